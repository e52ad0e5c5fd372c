//! When a piece of Python is whole.

use super::is_complete;

#[test]
fn whole_pieces() {
    for input in [
        "",
        "   ",
        "x = 1",
        "print('a')  # (",
        "'it''s'",
        "\"\"\"a\nb\"\"\"",
        "f(1,\n  2)",
        "x = [\n1,\n]",
        "a = 1 + \\\n2",
        "d = {'a': 1}",
        "s[1:]",
        "lambda: 0",
        "x = '(['",
        "r'\\n'",
        "'a\\'b'",
        "iffy = 1",
        "%timeit f(",
        "!echo '(",
        "?print",
        "a = 1\nb = 2",
        "await f()",
    ] {
        assert!(is_complete(input), "{input:?}");
    }
}

#[test]
fn pieces_that_go_on() {
    for input in [
        "f(",
        "f(1,",
        "[\n1,\n",
        "'''a",
        "\"\"\"a\n\"\"",
        "'''it's",
        "x = 1 + \\",
        "x = 1 + \\\n",
        "'a\\",
        "for i in x:",
        "for i in x:  # why",
        "for i in x:\n    f(i)",
        "if a: b",
        "def f():\n    return 1",
        "@decorator",
        "match x:",
        "with f(\n  1\n):",
        "%%bash",
        "%%bash\nls",
        "!ls \\",
    ] {
        assert!(!is_complete(input), "{input:?}");
    }
}

#[test]
fn an_empty_line_ends_a_block_but_no_bracket_or_string() {
    for input in
        ["for i in x:\n    f(i)\n", "if a: b\n", "def f():\n    return 1\n    ", "%%bash\nls\n", "@d\n"]
    {
        assert!(is_complete(input), "{input:?}");
    }
    for input in ["f(\n\n", "'''a\n\n", "for i in x:\n    f(\n"] {
        assert!(!is_complete(input), "{input:?}");
    }
}

#[test]
fn what_is_wrong_is_python_s_to_say() {
    for input in ["x = ')", "'abc", "f)", "}{".strip_suffix('{').unwrap()] {
        assert!(is_complete(input), "{input:?}");
    }
}
