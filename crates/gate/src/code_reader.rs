//! Reads the code out of a tool call's arguments while they are still being written:
//! `{"code": "…"}` arrives in pieces cut anywhere, and each piece of code goes on at once.

/// What is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the opening brace.
    Start,
    /// Between members: a key or the closing brace comes next.
    Members,
    Key,
    /// After a key: a colon, then its value.
    AfterKey,
    /// The value of `code`.
    Code,
    /// Some other value, to be skipped.
    Other,
    /// A string inside a value to be skipped.
    OtherString,
    /// The code has ended, or cannot be read this way: the whole arguments decide.
    Over,
}

/// Inside a string: what a backslash began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Escape {
    #[default]
    None,
    Begun,
    /// `\u` and the digits so far.
    Unicode(String),
}

#[derive(Debug)]
pub(crate) struct CodeReader {
    state: State,
    escape: Escape,
    /// The first half of a character that takes two `\u`.
    high: Option<u32>,
    key: String,
    /// How deep in arrays and objects of a value to be skipped.
    depth: u32,
    given: String,
}

impl CodeReader {
    pub(crate) fn new() -> Self {
        Self {
            state: State::Start,
            escape: Escape::None,
            high: None,
            key: String::new(),
            depth: 0,
            given: String::new(),
        }
    }

    /// The code that this piece adds; often nothing.
    pub(crate) fn read(&mut self, piece: &str) -> String {
        let before = self.given.len();
        for character in piece.chars() {
            self.step(character);
        }
        self.given[before..].to_owned()
    }

    /// All code given out so far.
    pub(crate) fn given(&self) -> &str {
        &self.given
    }

    fn step(&mut self, character: char) {
        match self.state {
            State::Start => match character {
                '{' => self.state = State::Members,
                c if c.is_ascii_whitespace() => {}
                _ => self.state = State::Over,
            },
            State::Members => match character {
                '"' => {
                    self.key.clear();
                    self.state = State::Key;
                }
                ',' => {}
                c if c.is_ascii_whitespace() => {}
                _ => self.state = State::Over,
            },
            State::Key => match self.string_step(character) {
                Some(StringStep::Character(c)) if self.key.len() < 64 => self.key.push(c),
                Some(StringStep::End) => self.state = State::AfterKey,
                Some(StringStep::Bad) => self.state = State::Over,
                Some(StringStep::Character(_)) | None => {}
            },
            State::AfterKey => match character {
                ':' => {}
                c if c.is_ascii_whitespace() => {}
                '"' if self.key == "code" => self.state = State::Code,
                _ if self.key == "code" => self.state = State::Over,
                '"' => self.state = State::OtherString,
                c => {
                    self.state = State::Other;
                    self.other_step(c);
                }
            },
            State::Code => match self.string_step(character) {
                Some(StringStep::Character(c)) => self.given.push(c),
                Some(StringStep::End | StringStep::Bad) => self.state = State::Over,
                None => {}
            },
            State::Other => self.other_step(character),
            State::OtherString => match self.string_step(character) {
                Some(StringStep::End) if self.depth == 0 => self.state = State::Members,
                Some(StringStep::End) => self.state = State::Other,
                Some(StringStep::Bad) => self.state = State::Over,
                Some(StringStep::Character(_)) | None => {}
            },
            State::Over => {}
        }
    }

    fn other_step(&mut self, character: char) {
        match character {
            '"' => self.state = State::OtherString,
            '{' | '[' => self.depth += 1,
            '}' | ']' if self.depth == 0 => self.state = State::Over,
            '}' | ']' => self.depth -= 1,
            ',' if self.depth == 0 => self.state = State::Members,
            _ => {}
        }
        if self.state == State::Other && self.depth == 0 && matches!(character, '}' | ']') {
            self.state = State::Members;
        }
    }

    fn string_step(&mut self, character: char) -> Option<StringStep> {
        match std::mem::take(&mut self.escape) {
            Escape::None => match character {
                '\\' => {
                    self.escape = Escape::Begun;
                    None
                }
                // A half character that its other half does not follow.
                _ if self.high.is_some() => Some(StringStep::Bad),
                '"' => Some(StringStep::End),
                c => Some(StringStep::Character(c)),
            },
            Escape::Begun => match character {
                'u' => {
                    self.escape = Escape::Unicode(String::new());
                    None
                }
                _ if self.high.is_some() => Some(StringStep::Bad),
                'n' => Some(StringStep::Character('\n')),
                't' => Some(StringStep::Character('\t')),
                'r' => Some(StringStep::Character('\r')),
                'b' => Some(StringStep::Character('\u{8}')),
                'f' => Some(StringStep::Character('\u{c}')),
                c @ ('"' | '\\' | '/') => Some(StringStep::Character(c)),
                _ => Some(StringStep::Bad),
            },
            Escape::Unicode(mut digits) => {
                digits.push(character);
                if digits.len() < 4 {
                    self.escape = Escape::Unicode(digits);
                    return None;
                }
                let Ok(unit) = u32::from_str_radix(&digits, 16) else { return Some(StringStep::Bad) };
                self.unit(unit)
            }
        }
    }

    /// One `\uXXXX`: a character, or half of one.
    fn unit(&mut self, unit: u32) -> Option<StringStep> {
        let step = match (self.high.take(), unit) {
            (None, 0xd800..=0xdbff) => {
                self.high = Some(unit);
                return None;
            }
            (Some(high), 0xdc00..=0xdfff) => {
                char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + (unit - 0xdc00))
            }
            (Some(_), _) => None,
            (None, _) => char::from_u32(unit),
        };
        Some(step.map_or(StringStep::Bad, StringStep::Character))
    }
}

enum StringStep {
    Character(char),
    End,
    Bad,
}

/// The code in whole arguments.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadArguments {
    #[error("the arguments are not valid JSON ({0}); send an object with one string, \"code\"")]
    NotJson(String),
    #[error("the arguments have no string \"code\"")]
    NoCode,
}

/// Reads whole arguments. What `reader` has given out already stays as it is: the client has it.
pub(crate) fn whole_code(arguments: &str, reader: &CodeReader) -> Result<String, BadArguments> {
    let parsed: serde_json::Value =
        serde_json::from_str(arguments).map_err(|error| BadArguments::NotJson(error.to_string()))?;
    let code = parsed.get("code").and_then(serde_json::Value::as_str).ok_or(BadArguments::NoCode)?;
    if code.starts_with(reader.given()) {
        return Ok(code.to_owned());
    }
    // "code" twice: JSON's readers take the last, but the first one was shown.
    Ok(reader.given().to_owned())
}

#[cfg(test)]
#[path = "code_reader_tests.rs"]
mod tests;
