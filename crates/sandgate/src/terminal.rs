//! What untrusted code prints must not command the user's terminal: set its title, fill the
//! clipboard, ask it to type an answer. Colours and the movements of progress bars stay.

/// Reads text piece by piece; a sequence may be cut anywhere between two pieces.
#[derive(Debug)]
pub(crate) struct Filter {
    keep: Keep,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Colours, and what progress bars use.
    Harmless,
    /// No sequence at all.
    Nothing,
}

#[derive(Debug)]
enum State {
    Text,
    Escape,
    /// `ESC [` and what followed it.
    Control(String),
    /// A text for the terminal itself (title, clipboard, …), dropped up to its end.
    Command,
    CommandEscape,
    /// The one character after `ESC (` and its like.
    SkipOne,
}

/// A control sequence longer than this is none that is let through.
const LONGEST: usize = 64;

impl Filter {
    pub(crate) fn new(keep: Keep) -> Self {
        Self { keep, state: State::Text }
    }

    pub(crate) fn feed(&mut self, text: &str) -> String {
        let mut clean = String::with_capacity(text.len());
        for c in text.chars() {
            self.step(c, &mut clean);
        }
        clean
    }

    fn step(&mut self, c: char, clean: &mut String) {
        self.state = match std::mem::replace(&mut self.state, State::Text) {
            State::Text => match c {
                '\x1b' => State::Escape,
                '\n' | '\r' | '\t' | '\x08' => {
                    clean.push(c);
                    State::Text
                }
                // The other control characters, and the one-character forms of the sequences.
                c if c.is_control() => State::Text,
                c => {
                    clean.push(c);
                    State::Text
                }
            },
            State::Escape => match c {
                '[' => State::Control(String::new()),
                ']' | 'P' | 'X' | '^' | '_' => State::Command,
                '(' | ')' | '*' | '+' | '#' | '%' | ' ' => State::SkipOne,
                '\x1b' => State::Escape,
                _ => State::Text,
            },
            State::Control(mut inside) => match c {
                '\x40'..='\x7e' => {
                    if self.keep == Keep::Harmless && is_harmless(&inside, c) {
                        clean.push_str("\x1b[");
                        clean.push_str(&inside);
                        clean.push(c);
                    }
                    State::Text
                }
                '\x1b' => State::Escape,
                c => {
                    if inside.len() < LONGEST {
                        inside.push(c);
                    }
                    State::Control(inside)
                }
            },
            State::Command => match c {
                '\x07' | '\u{9c}' => State::Text,
                '\x1b' => State::CommandEscape,
                _ => State::Command,
            },
            State::CommandEscape => match c {
                '\\' => State::Text,
                '\x1b' => State::CommandEscape,
                _ => State::Command,
            },
            State::SkipOne => State::Text,
        };
    }
}

/// Colours (`m`), erasing in the line (`K`), moving along it or by lines (`A` to `D`, `G`).
fn is_harmless(inside: &str, end: char) -> bool {
    let plain =
        inside.len() < LONGEST && inside.bytes().all(|b| b.is_ascii_digit() || b == b';' || b == b':');
    plain && matches!(end, 'm' | 'K' | 'A'..='D' | 'G')
}

/// The text alone, for files and pipes.
pub(crate) fn plain(text: &str) -> String {
    Filter::new(Keep::Nothing).feed(text)
}

#[cfg(test)]
#[path = "terminal_tests.rs"]
mod tests;
