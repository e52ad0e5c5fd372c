//! The codes of `sys.exit`.

use sandgate_core::CodeError;

use super::{Left, left};

fn raised(name: &str, value: &str) -> CodeError {
    CodeError { name: name.to_owned(), value: value.to_owned(), traceback: Vec::new() }
}

#[test]
fn a_script_leaves_with_its_code() {
    let rows = [
        ("", 0, None),
        ("None", 0, None),
        ("0", 0, None),
        ("7", 7, None),
        ("-1", 255, None),
        ("256", 0, None),
    ];
    for (value, code, said) in rows {
        assert_eq!(left(&raised("SystemExit", value)), Some(Left { code, said }), "{value}");
    }
    assert_eq!(left(&raised("SystemExit", "no disk")), Some(Left { code: 1, said: Some("no disk") }));
    assert_eq!(left(&raised("ValueError", "0")), None);
}
