//! Names are exchanged however the bytes are cut, and nothing else is.

use super::*;

fn through(text: &str, size: usize) -> String {
    let mut renamer = Renamer::new("big-1", "gpt-5");
    let mut out = Vec::new();
    for piece in text.as_bytes().chunks(size) {
        out.extend_from_slice(&renamer.take(piece));
    }
    out.extend_from_slice(&renamer.end());
    String::from_utf8(out).unwrap()
}

#[test]
fn the_key_is_found_however_it_is_cut() {
    let text = r#"data: {"model":"big-1","x":{"model": "big-1"},"model":"big-1-2026","t":"\"model\":\"big-1\"","m":"mod"#;
    let wanted = r#"data: {"model":"gpt-5","x":{"model": "gpt-5"},"model":"big-1-2026","t":"\"model\":\"big-1\"","m":"mod"#;
    for size in 1..text.len() + 1 {
        assert_eq!(through(text, size), wanted, "{size}");
    }
}

#[test]
fn nothing_waits_that_need_not() {
    let mut renamer = Renamer::new("big-1", "gpt-5");
    assert_eq!(renamer.take(b"data: {\"a\":1}\n\n").as_ref(), b"data: {\"a\":1}\n\n");
    assert_eq!(renamer.take(b"{\"mod").as_ref(), b"{");
    assert_eq!(renamer.take(b"e\":1}").as_ref(), b"\"mode\":1}");
}

#[test]
fn only_plain_text_is_looked_at() {
    let headers = |kind: &str, encoding: &str| {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, kind.parse().unwrap());
        if !encoding.is_empty() {
            headers.insert(header::CONTENT_ENCODING, encoding.parse().unwrap());
        }
        headers
    };
    assert!(can_be_renamed(&headers("application/json", "")));
    assert!(can_be_renamed(&headers("text/event-stream; charset=utf-8", "")));
    assert!(!can_be_renamed(&headers("application/json", "gzip")));
    assert!(!can_be_renamed(&headers("audio/mpeg", "")));
}
