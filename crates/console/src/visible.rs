//! Letters that nobody sees, or that change the order in which others are read, made visible: whoever decides about
//! a text must see the text that runs.

use std::fmt::Write as _;

use maud::{Escaper, Markup, PreEscaped};

/// After so many in one text they have no colour, so that a page of them stays small.
const MOST_MARKED: usize = 1000;

/// Writes texts with what is hidden in them as `⟨U+202E⟩`.
#[derive(Debug, Default)]
pub(crate) struct Visible {
    pub(crate) markup: String,
    marked: usize,
}

/// For a name in a line.
pub(crate) fn visible(name: &str) -> Markup {
    let mut visible = Visible::default();
    for letter in name.chars() {
        visible.letter(letter, matches!(letter, '\n' | '\r' | '\t'));
    }
    PreEscaped(visible.markup)
}

/// The same for a question, which is text and not markup.
pub(crate) fn quoted(name: &str) -> String {
    let mut text = String::from("“");
    for letter in name.chars() {
        if letter.is_control() || is_hidden(letter) {
            // Writing to a String does not fail.
            let _ = write!(text, "⟨U+{:04X}⟩", u32::from(letter));
        } else {
            text.push(letter);
        }
    }
    text.push('”');
    text
}

/// How many letters of a text are not to be seen as they are.
pub(crate) fn count_hidden(text: &str) -> usize {
    let ends = text.bytes().filter(|byte| *byte == b'\r').count() - text.matches("\r\n").count();
    ends + text.chars().filter(|letter| is_hidden(*letter)).count()
}

impl Visible {
    /// A piece of a text, `after` which the rest of it comes. `lone_ends`: a carriage return alone ends a line.
    pub(crate) fn piece(&mut self, piece: &str, after: &str, lone_ends: bool) {
        let mut letters = piece.chars().peekable();
        while let Some(letter) = letters.next() {
            if letter != '\r' {
                self.letter(letter, false);
                continue;
            }
            let is_lone = letters.peek().map_or(!after.starts_with('\n'), |next| *next != '\n');
            if is_lone {
                self.letter(letter, true);
                if lone_ends {
                    self.markup.push('\n');
                }
            }
        }
    }

    fn letter(&mut self, letter: char, is_marked: bool) {
        // Writing to a String does not fail.
        let _ = if is_marked || is_hidden(letter) {
            self.marked += 1;
            let (before, after) = if self.marked <= MOST_MARKED { ("<mark>", "</mark>") } else { ("", "") };
            write!(self.markup, "{before}⟨U+{:04X}⟩{after}", u32::from(letter))
        } else {
            Escaper::new(&mut self.markup).write_char(letter)
        };
    }
}

/// Controls, formats, selectors and fillers; not the ends of lines, which are seen.
fn is_hidden(letter: char) -> bool {
    match letter {
        '\n' | '\r' | '\t' => false,
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        _ => letter.is_control(),
    }
}

#[cfg(test)]
#[path = "visible_tests.rs"]
mod tests;
