//! A program comes across whole, or not at all.

use super::Program;

fn program(arguments: &[&str], environment: &[&str]) -> Program {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    Program { folder: "/home/user".into(), arguments: owned(arguments), environment: owned(environment) }
}

#[test]
fn it_comes_across() {
    for whole in [
        program(&["/bin/true"], &[]),
        program(&["/bin/sh", "-c", "", "a b"], &["A=", "B=x\ny"]),
        program(&["x"], &["ONLY=1"]),
    ] {
        assert_eq!(Program::decode(&whole.encode().unwrap()).unwrap(), whole);
    }
}

#[test]
fn what_would_be_cut_is_refused() {
    assert_eq!(program(&["/bin/sh", "a\0b"], &[]).encode(), None);
    assert_eq!(program(&["/bin/sh"], &["A=\0"]).encode(), None);
    assert_eq!(program(&[], &[]).encode(), None);
}

#[test]
fn what_is_not_whole_is_refused() {
    for bytes in [&b""[..], b"/", b"/\0x", b"/\x002\0one", b"/\x000", b"\xff\x001\0x"] {
        assert!(Program::decode(bytes).is_err(), "{bytes:?}");
    }
}
