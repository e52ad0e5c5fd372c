//! Nothing that turns or hides text reaches a page, and markup does not either.

use super::*;

#[test]
fn what_turns_text_around_is_named() {
    let hostile = "#\u{202e} ;metsys.so\u{2066}\u{200b}\u{0}<b>";
    let shown = visible(hostile).into_string();
    assert_eq!(
        shown,
        "#<mark>⟨U+202E⟩</mark> ;metsys.so<mark>⟨U+2066⟩</mark><mark>⟨U+200B⟩</mark><mark>⟨U+0000⟩</mark>&lt;b&gt;"
    );
    assert_eq!(count_hidden(hostile), 4);
    assert_eq!(count_hidden("a\tb\r\nc ü 中 🦀\n"), 0);
    assert_eq!(count_hidden("# a\rb\r\n"), 1);
    assert_eq!(visible("a\nb\rc").into_string(), "a<mark>⟨U+000A⟩</mark>b<mark>⟨U+000D⟩</mark>c");
}

#[test]
fn a_lone_return_is_seen_wherever_pieces_end() {
    let write = |pieces: [(&str, &str); 2], lone_ends| {
        let mut visible = Visible::default();
        for (piece, after) in pieces {
            visible.piece(piece, after, lone_ends);
        }
        visible.markup
    };
    assert_eq!(write([("# a\r", "\nb"), ("\nb", "")], true), "# a\nb");
    assert_eq!(write([("# a\r", "b"), ("b", "")], true), "# a<mark>⟨U+000D⟩</mark>\nb");
    assert_eq!(write([("# a\rb", ""), ("", "")], false), "# a<mark>⟨U+000D⟩</mark>b");
}

#[test]
fn a_text_of_hidden_letters_stays_small() {
    let text = "\u{202e}".repeat(10 * MOST_MARKED);
    let mut visible = Visible::default();
    visible.piece(&text, "", false);
    assert_eq!(visible.markup.matches("<mark>").count(), MOST_MARKED);
    assert!(visible.markup.len() < 6 * text.len());
}
