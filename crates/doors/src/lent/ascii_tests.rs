//! Any text survives, and no byte is beyond ASCII.

use serde_json::{Value, json};

use super::add_line;

#[test]
fn text_of_any_language_is_ascii_and_reads_the_same() {
    let values = ["", "plain", "é", "aéb", "žluťoučký kůň", "😀", "x😀y\u{0}\n\"\\", "\u{2028}", "日本 語"];
    let value = json!({"type": "stdout", "text": values, "é": {"ž": 1.5}});
    let mut lines = b"before\n".to_vec();
    add_line(&mut lines, &value);
    let line = lines.strip_prefix(b"before\n").unwrap();
    assert!(line.is_ascii());
    assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1, "one line");
    assert_eq!(serde_json::from_slice::<Value>(line).unwrap(), value);
}

#[test]
fn characters_beyond_the_first_plane_are_two_units() {
    let mut lines = Vec::new();
    add_line(&mut lines, &"é😀");
    assert_eq!(lines, b"\"\\u00e9\\ud83d\\ude00\"\n");
}
