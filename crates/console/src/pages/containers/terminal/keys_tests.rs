//! Keys are what xterm makes of them.

use super::*;

fn key(name: &str) -> Key {
    Key { key: name.into(), ..Key::default() }
}

#[test]
fn letters_and_control() {
    assert_eq!(bytes(&key("é"), false).unwrap(), "é".as_bytes());
    assert_eq!(bytes(&Key { ctrl: true, ..key("c") }, false).unwrap(), b"\x03");
    assert_eq!(bytes(&Key { ctrl: true, ..key("D") }, false).unwrap(), b"\x04");
    assert_eq!(bytes(&Key { ctrl: true, ..key("é") }, false), None);
    assert_eq!(bytes(&Key { alt: true, ..key("b") }, false).unwrap(), b"\x1bb");
    assert_eq!(bytes(&key("\u{1b}"), false), None);
}

#[test]
fn named_keys() {
    assert_eq!(bytes(&key("Enter"), false).unwrap(), b"\r");
    assert_eq!(bytes(&key("ArrowUp"), false).unwrap(), b"\x1b[A");
    assert_eq!(bytes(&key("ArrowUp"), true).unwrap(), b"\x1bOA");
    assert_eq!(bytes(&Key { ctrl: true, ..key("ArrowLeft") }, true).unwrap(), b"\x1b[1;5D");
    assert_eq!(bytes(&key("Delete"), false).unwrap(), b"\x1b[3~");
    assert_eq!(bytes(&key("F5"), false).unwrap(), b"\x1b[15~");
    assert_eq!(bytes(&key("Shift"), false), None);
}

#[test]
fn pasted_text_cannot_leave_its_brackets() {
    assert_eq!(pasted("a\r\nb\nc", false), b"a\rb\rc");
    assert_eq!(pasted("x\x1b[201~\nrm -rf /", true), b"\x1b[200~x[201~\rrm -rf /\x1b[201~");
}
