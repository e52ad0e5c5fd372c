//! Imports are found wherever Python lets them stand, and what is made to hide or to hang is not let through.

use super::*;

fn read(language: &str, code: &str) -> Result<Vec<String>, Unreadable> {
    imports(language, code, &AtomicBool::new(false))
}

fn of(code: &str) -> Vec<String> {
    read("python", code).unwrap()
}

#[test]
fn every_form_of_an_import_is_seen() {
    for (code, modules) in [
        ("import a.b as c, d", vec!["a", "d"]),
        ("from x.y import z", vec!["x"]),
        ("from x import (a,\n  b)", vec!["x"]),
        ("from __future__ import annotations", vec!["__future__"]),
        ("x = 1; import os", vec!["os"]),
        ("try: import os\nexcept ImportError: pass", vec!["os"]),
        ("def f():\n    class A:\n        import os\n", vec!["os"]),
        ("import \\\n  os", vec!["os"]),
        ("import os # comment\nimport sys", vec!["os", "sys"]),
        ("# a comment\rimport os", vec!["os"]),
        ("match x:\n  case 1: import os", vec!["os"]),
        ("async def f():\n  async with a: import os", vec!["os"]),
        ("import os, os.path, sys, os", vec!["os", "sys"]),
        ("import ｏｓ", vec!["os"]),
        ("print('import os')", vec![]),
        ("'''\nimport os\n'''", vec![]),
        ("# import os", vec![]),
        ("from . import a", vec![]),
        ("", vec![]),
    ] {
        assert_eq!(of(code), modules, "{code}");
    }
}

#[test]
fn calls_that_import_are_seen_and_what_they_hide_is_marked() {
    for (code, modules) in [
        ("__import__('os').system('x')", vec!["os"]),
        ("f'{__import__(\"os\")}'", vec!["os"]),
        ("(lambda: __import__('os'))()", vec!["os"]),
        ("__ｉmport__('os')", vec!["os"]),
        ("builtins.__import__('os')", vec!["os"]),
        ("import importlib as i\ni.import_module('a.b')", vec!["a", "importlib"]),
        ("from importlib import import_module\nimport_module(name='o' 's')", vec!["importlib", "os"]),
        ("__import__('o' + 's')", vec!["*"]),
        ("__import__(name)", vec!["*"]),
        ("__import__('o\\x73')", vec!["*"]),
        ("__import__(f'{x}')", vec!["*"]),
        ("__import__()", vec!["*"]),
        ("__import__(*['os'])", vec!["*"]),
        ("__import__(globals=None, name='os')", vec!["*"]),
        ("f = __import__\nf('os')", vec!["*"]),
        ("map(__import__, ['os'])", vec!["*"]),
        ("getattr(b, '__import__')('os')", vec!["*"]),
        ("b.__dict__['__import__']('os')", vec!["*"]),
        ("from importlib import import_module as f\nf('os')", vec!["*", "importlib"]),
        ("import importlib\nf = importlib.import_module", vec!["*", "importlib"]),
        ("import_module('.path', 'os')", vec!["*"]),
        ("# __import__ is not used", vec![]),
        ("print('%d'\n      % x)\ny = (a\n, b\n/ c)", vec![]),
    ] {
        assert_eq!(of(code), modules, "{code}");
    }
}

#[test]
fn text_that_is_not_all_python_hides_nothing() {
    for (code, modules) in [
        ("!ls \"\nimport os", vec!["*", "os"]),
        ("%time import os", vec!["*", "os"]),
        ("%matplotlib inline\nfrom a.b import c\n!pip install x", vec!["*", "a"]),
        ("%%bash\nls", vec!["*"]),
        ("  !ls", vec!["*"]),
        ("x = !ls", vec!["*"]),
        ("x = %run y", vec!["*"]),
        (",f a", vec!["*"]),
        ("/f a", vec!["*"]),
        (";f a", vec!["*"]),
        ("x = (\nf = __import__", vec!["*"]),
        ("x = = 1\nif y: import a as b, c", vec!["a", "c"]),
        ("x = (\nimport \\\n os", vec!["os"]),
    ] {
        assert_eq!(of(code), modules, "{code}");
    }
}

#[test]
fn of_other_languages_nothing_is_known() {
    assert_eq!(read("bash", "import os"), Ok(vec!["*".to_owned()]));
    assert_eq!(read("Python", "import os"), Ok(vec!["os".to_owned()]));
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let many: String = (0..=MOST).map(|number| format!("import m{number}\n")).collect();
    assert_eq!(read("python", &many), Err(Unreadable::TooMany));
    // Takes quadratic time, without end at this size.
    assert_eq!(read("python", &"\\\n".repeat(2_000_000)), Err(Unreadable::TooSlow));
}

#[test]
fn deep_nesting_does_no_harm() {
    for piece in ["(", "[{(", "f'{", "lambda:", "if x:\n ", "not ", "-", "__import__("] {
        let _ = read("python", &piece.repeat(20_000));
    }
}
