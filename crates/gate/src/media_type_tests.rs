//! What files are called when they are put into messages.

use super::media_type;

#[test]
fn a_name_says_it_and_otherwise_the_content() {
    for (name, content, kind) in [
        ("a.CSV", &b""[..], "text/csv"),
        ("a.tar.py", b"\0", "text/x-python"),
        ("notes", b"plain words", "text/plain"),
        ("notes.unheard-of", "Grüße".as_bytes(), "text/plain"),
        ("paper", b"%PDF-1.7", "application/pdf"),
        ("weights.bin", b"\0\xff", "application/octet-stream"),
        (".", b"", "text/plain"),
    ] {
        assert_eq!(media_type(name, content), kind, "{name}");
    }
}
