//! What hostile output may do to a terminal: nothing.

use super::*;

fn harmless(text: &str) -> String {
    Filter::new(Keep::Harmless).feed(text)
}

#[test]
fn text_colours_and_progress_bars_pass() {
    for text in ["é 中\t\r\n", "\x1b[1;31mred\x1b[0m", "50%\r\x1b[K60%", "\x1b[2A\x1b[38:2::1:2:3mx"] {
        assert_eq!(harmless(text), text);
    }
}

#[test]
fn commands_to_the_terminal_are_dropped() {
    for text in [
        "a\x1b]0;title\x07b",
        "a\x1b]52;c;ZXZpbA==\x1b\\b",
        "a\x1bP$q\x1b\\b",
        "a\x1b[6nb",
        "a\x1b[2J\x1b[Hb",
        "a\x1b[?1049hb",
        "a\x1bcb",
        "a\x1b(0b",
        "a\u{9b}6nb".strip_suffix("6nb").unwrap(),
        "a\x07\x0e\u{90}b",
    ] {
        let clean = harmless(text);
        assert!(clean == "ab" || clean == "a", "{text:?} became {clean:?}");
    }
}

#[test]
fn a_sequence_cut_in_pieces_is_still_one() {
    let mut filter = Filter::new(Keep::Harmless);
    let clean: String =
        ["a\x1b", "]0;ti", "tle\x1b", "\\b\x1b[3", "1mc"].iter().map(|piece| filter.feed(piece)).collect();
    assert_eq!(clean, "ab\x1b[31mc");
}

#[test]
fn an_endless_sequence_takes_no_memory() {
    let mut filter = Filter::new(Keep::Harmless);
    assert_eq!(filter.feed(&format!("\x1b[{}", "1".repeat(1 << 20))), "");
    assert_eq!(filter.feed("mend"), "end");
}

#[test]
fn plain_text_has_no_sequences() {
    assert_eq!(plain("\x1b[31mred\x1b[0m\n"), "red\n");
}
