//! Files by their names, and programs of Java.

use std::path::Path;

use super::{Language, java_program, language};

#[test]
fn a_file_s_name_tells_its_language() {
    for (name, expected) in [
        ("a.py", Language::Python),
        ("a.js", Language::JavaScript),
        ("a.mjs", Language::JavaScript),
        ("a.ts", Language::TypeScript),
        ("a.sh", Language::Bash),
        ("dir.py/a.go", Language::Go),
        ("A.java", Language::Java),
        ("a.R", Language::R),
    ] {
        assert_eq!(language(Path::new(name)), Some(expected), "{name}");
    }
    for name in ["-", "a", "a.txt", ".py"] {
        assert_eq!(language(Path::new(name)), None, "{name}");
    }
}

#[test]
fn a_program_of_java_is_run() {
    let program = "package x.y;\npublic class Hello {\n  public static void main(String[] a) {}\n}";
    let expected =
        "public class Hello {\n  public static void main(String[] a) {}\n}\nHello.main(new String[0]);\n";
    assert_eq!(java_program(program.to_owned()), expected);
    for plain in ["int a = 1;", "class A {}", "static void main("] {
        assert_eq!(java_program(plain.to_owned()), plain);
    }
}
