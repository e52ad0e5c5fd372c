//! Whole pieces of every language, and pieces that go on.

use super::{Language, is_whole};

#[test]
fn whole_pieces() {
    for (language, input) in [
        (Language::JavaScript, "const f = x => x + 1"),
        (Language::JavaScript, "if (a) {\n  b()\n}"),
        (Language::JavaScript, "`a ${1} {`"),
        (Language::JavaScript, "i++"),
        (Language::JavaScript, "'it\\'s ('"),
        (Language::TypeScript, "interface P { n: number }"),
        (Language::Java, "int a = 10;"),
        (Language::Java, "class A { int f() { return 1; } } // {"),
        (Language::Java, "char c = '{';"),
        (Language::Java, "a"),
        (Language::Go, "x := `{\n`"),
        (Language::Go, "/* ( */ x"),
        (Language::R, "x <- c(1, 2) # ("),
        (Language::Bash, "for i in 1 2; do echo $i; done"),
        (Language::Bash, "echo ')'"),
        (Language::Bash, "fi"),
    ] {
        assert!(is_whole(language, input), "{language}: {input:?}");
    }
}

#[test]
fn pieces_that_go_on() {
    for (language, input) in [
        (Language::JavaScript, "function f() {"),
        (Language::JavaScript, "const f = x =>"),
        (Language::JavaScript, "`a"),
        (Language::JavaScript, "/* a"),
        (Language::Java, "int f(int x) {"),
        (Language::Java, "int a ="),
        (Language::Java, "String s = \"\"\"\n  a"),
        (Language::Go, "func f() {\n"),
        (Language::R, "x <-"),
        (Language::R, "c(1,"),
        (Language::Bash, "for i in 1 2; do"),
        (Language::Bash, "echo 'a"),
        (Language::Bash, "echo \\"),
    ] {
        assert!(!is_whole(language, input), "{language}: {input:?}");
    }
}

#[test]
fn an_empty_line_gives_up_what_only_hangs() {
    assert!(is_whole(Language::Java, "int a =\n"));
    assert!(!is_whole(Language::Java, "int f() {\n\n"));
}
