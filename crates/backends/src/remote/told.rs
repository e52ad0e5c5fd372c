//! What an interpreter was taught to say among its output: values, displays and errors that the provider's
//! protocol would drop. All of it is hostile: code can say the same, and then it has shown something, which it may.

use sandgate_core::{CodeError, MimeBundle, random_hex};
use serde::Deserialize;

use crate::Interpreter;

/// Begins and ends what is told.
const MARK: char = '\u{1e}';
/// More than the setup ever writes inline.
const MOST_INLINE: usize = 64 * 1024;

/// The Python that teaches an interpreter.
const TELL: &str = include_str!("teach/tell.py");
const NOTEBOOK: &str = include_str!("teach/notebook.py");
const PLAIN: &str = include_str!("teach/plain.py");

/// Has an interpreter put quotes around a text that is a value, beside its own, for a provider that takes one pair away.
/// Texts within other values have only their own.
pub(super) const KEEP_QUOTES: &str = include_str!("teach/quotes.py");

/// Between one interpreter and the gate.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    token: String,
    folder: String,
}

impl Channel {
    pub(super) fn new() -> Self {
        Self::with(&random_hex(12))
    }

    pub(super) fn with(token: &str) -> Self {
        Self { folder: format!("/tmp/.sandgate-{token}"), token: token.to_owned() }
    }

    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// The code that teaches it, and leaves no names behind.
    pub(super) fn setup(&self, interpreter: Interpreter) -> String {
        let teach = match interpreter {
            Interpreter::Plain => PLAIN,
            Interpreter::IPython => NOTEBOOK,
        };
        let (tell, token, folder) = (quoted(TELL), quoted(&self.token), quoted(&self.folder));
        format!("{teach}\n_sandgate_teach({tell}, {token}, {folder})\ndel _sandgate_teach\n")
    }

    pub(super) fn reader(&self) -> Reader {
        Reader {
            start: format!("{MARK}{}", self.token),
            folder: format!("{}/", self.folder),
            held: String::new(),
            searched: 0,
        }
    }
}

/// Code that makes an interpreter work in a folder, made if need be, and leaves no names behind.
pub(super) fn change_dir(path: &str) -> String {
    let path = quoted(path);
    format!("__import__('os').makedirs({path}, exist_ok=True)\n__import__('os').chdir({path})\n")
}

/// A line of code that fails unless it may write into the folder, and leaves nothing behind.
pub(super) fn check_folder(path: &str) -> String {
    const ALL: u8 = 0o7;
    format!("assert __import__('os').access({}, {ALL})\n", quoted(path))
}

/// Code for an interpreter that only executes: its last value and its error are told by the setup.
pub(super) fn wrapped(code: &str) -> String {
    format!("__import__('sys').modules['_sandgate'].run({}, globals())", quoted(code))
}

/// A string of Python; JSON's escapes are Python's too, as long as all is ASCII.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            ' '..='~' => quoted.push(c),
            other => quoted.push_str(&format!("\\U{:08x}", u32::from(other))),
        }
    }
    quoted.push('"');
    quoted
}

#[derive(Debug, PartialEq)]
pub(super) enum Part {
    Text(String),
    Told { kind: Kind, content: Content },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Value,
    Display,
    Error,
}

#[derive(Debug, PartialEq)]
pub(super) enum Content {
    Inline(Vec<u8>),
    /// A file in the channel's folder.
    File(String),
}

#[derive(Debug, PartialEq)]
pub(super) enum Meant {
    Bundle(MimeBundle),
    Error(CodeError),
}

#[derive(Deserialize)]
struct ErrorText {
    name: String,
    value: String,
    traceback: Vec<String>,
}

/// None where it is not what it says.
pub(super) fn meant(kind: Kind, bytes: &[u8]) -> Option<Meant> {
    if kind == Kind::Error {
        let ErrorText { name, value, traceback } = serde_json::from_slice(bytes).ok()?;
        return Some(Meant::Error(CodeError { name, value, traceback }));
    }
    serde_json::from_slice(bytes).ok().map(Meant::Bundle)
}

/// Takes what is told out of text that comes in arbitrary pieces.
#[derive(Debug)]
pub(super) struct Reader {
    start: String,
    folder: String,
    held: String,
    /// So much of what is held has no end in it.
    searched: usize,
}

impl Reader {
    /// Walks over the text and cuts it once: whoever prints mark after mark must not make it slow.
    pub(super) fn read(&mut self, text: &str) -> Vec<Part> {
        let mut held = std::mem::take(&mut self.held);
        let searched = std::mem::take(&mut self.searched);
        held.push_str(text);
        let mut parts = Vec::new();
        // Up to `done` all is told; from `from` on the next mark is looked for.
        let (mut done, mut from) = (0, 0);
        let rest_at = loop {
            let Some(at) = held[from..].find(MARK).map(|at| from + at) else { break held.len() };
            let rest = &held[at..];
            if rest.len() < self.start.len() && self.start.starts_with(rest) {
                // Perhaps a beginning: more will tell.
                break at;
            }
            let after_mark = at + MARK.len_utf8();
            let Some(body) = rest.strip_prefix(&self.start) else {
                from = after_mark;
                continue;
            };
            let body_at = at + self.start.len();
            let search_at = body_at.max(searched);
            let Some(end) = held[search_at..].find(MARK).map(|end| search_at + end) else {
                if body.len() > MOST_INLINE {
                    // Nothing of ours is so long.
                    from = after_mark;
                    continue;
                }
                self.searched = held.len() - at;
                break at;
            };
            let after_end = end + MARK.len_utf8();
            if let Some(told) = self.told(&held[body_at..end]) {
                push_text(&mut parts, &held[done..at]);
                parts.push(told);
                done = after_end;
            }
            from = after_end;
        };
        push_text(&mut parts, &held[done..rest_at]);
        if rest_at > 0 {
            held.drain(..rest_at);
        }
        self.held = held;
        parts
    }

    /// What was held back and nothing came of.
    pub(super) fn finish(&mut self) -> Option<String> {
        Some(std::mem::take(&mut self.held)).filter(|rest| !rest.is_empty())
    }

    fn told(&self, body: &str) -> Option<Part> {
        let mut letters = body.chars();
        let kind = match letters.next()? {
            'v' => Kind::Value,
            'd' => Kind::Display,
            'e' => Kind::Error,
            _ => return None,
        };
        let content = match letters.next()? {
            'i' => {
                use base64::Engine as _;
                Content::Inline(base64::engine::general_purpose::STANDARD.decode(letters.as_str()).ok()?)
            }
            'f' => {
                let name = letters.as_str().strip_prefix(&self.folder)?;
                let harmless =
                    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                Content::File(harmless.then(|| letters.as_str().to_owned())?)
            }
            _ => return None,
        };
        Some(Part::Told { kind, content })
    }
}

fn push_text(parts: &mut Vec<Part>, text: &str) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(Part::Text(before)) => before.push_str(text),
        _ => parts.push(Part::Text(text.to_owned())),
    }
}

#[cfg(test)]
#[path = "told_tests.rs"]
mod tests;
