//! Finds the id of a response in its bytes as they go by: `id` of a whole one, `response.id` of an event. Nothing
//! is kept of what is read but the name at hand, so the id may stand wherever it likes and look as it likes.

/// What is longer is no id that anybody could send back in a path.
const LONGEST_ID: usize = 512;
/// Of a name or id as it is written, where one character may take six.
const LONGEST_WRITTEN: usize = 6 * LONGEST_ID;
const DATA: &[u8] = b"data:";

#[derive(Debug)]
pub(super) struct IdFinder {
    is_events: bool,
    /// Of an event: what is known of its line.
    line: Line,
    json: Json,
}

#[derive(Clone, Copy, Debug)]
enum Line {
    /// So much of it is as a line of data begins.
    Begins(usize),
    Data,
    Other,
}

impl IdFinder {
    /// `is_events`: whether a stream of events is read, or a whole response.
    pub(super) fn new(is_events: bool) -> Self {
        Self { is_events, line: Line::Begins(0), json: Json::new(is_events) }
    }

    /// The id, once it is whole.
    pub(super) fn look(&mut self, piece: &[u8]) -> Option<String> {
        piece.iter().find_map(|byte| if self.is_events { self.take(*byte) } else { self.json.take(*byte) })
    }

    fn take(&mut self, byte: u8) -> Option<String> {
        self.line = match (self.line, byte) {
            (_, b'\n' | b'\r') => {
                self.json = Json::new(true);
                Line::Begins(0)
            }
            (Line::Begins(seen), byte) if DATA.get(seen) == Some(&byte) => {
                if seen + 1 == DATA.len() {
                    Line::Data
                } else {
                    Line::Begins(seen + 1)
                }
            }
            (Line::Data, byte) => {
                let found = self.json.take(byte);
                if found.is_some() {
                    return found;
                }
                Line::Data
            }
            (Line::Begins(_) | Line::Other, _) => Line::Other,
        };
        None
    }
}

/// One value of JSON, byte by byte.
#[derive(Debug)]
struct Json {
    /// Whether the object with the id is the value of `response`, or the value itself.
    is_inner: bool,
    depth: usize,
    /// Inside of the object `response`.
    in_response: bool,
    /// What stands before the colon, at the level that is looked at.
    name: Vec<u8>,
    is_value: bool,
    in_text: bool,
    is_escaped: bool,
    /// The text at hand, if anybody wants it.
    text: Option<Vec<u8>>,
}

impl Json {
    fn new(is_inner: bool) -> Self {
        Self {
            is_inner,
            depth: 0,
            in_response: false,
            name: Vec::new(),
            is_value: false,
            in_text: false,
            is_escaped: false,
            text: None,
        }
    }

    fn is_looked_at(&self) -> bool {
        self.depth == 1 || (self.depth == 2 && self.in_response)
    }

    fn take(&mut self, byte: u8) -> Option<String> {
        if self.in_text {
            return self.take_text(byte);
        }
        match byte {
            b'"' => {
                self.in_text = true;
                self.text = self.is_looked_at().then(Vec::new);
                if self.text.is_some() && !self.is_value {
                    self.name.clear();
                }
            }
            b'{' | b'[' => {
                let is_response = byte == b'{' && self.is_value && self.name == b"response";
                self.in_response |= self.is_inner && self.depth == 1 && is_response;
                self.depth += 1;
                self.is_value &= !self.is_looked_at();
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.in_response &= self.depth > 1;
                self.is_value &= !self.is_looked_at();
            }
            b':' if self.is_looked_at() => self.is_value = true,
            b',' if self.is_looked_at() => self.is_value = false,
            _ => {}
        }
        None
    }

    fn take_text(&mut self, byte: u8) -> Option<String> {
        if byte == b'"' && !self.is_escaped {
            self.in_text = false;
            let text = self.text.take()?;
            if !self.is_value {
                self.name = text;
                return None;
            }
            let is_here = self.in_response == self.is_inner && self.name == b"id";
            return is_here.then(|| read(&text)).flatten();
        }
        self.is_escaped = byte == b'\\' && !self.is_escaped;
        if let Some(text) = &mut self.text {
            text.push(byte);
            if text.len() > LONGEST_WRITTEN {
                self.text = None;
            }
        }
        None
    }
}

fn read(written: &[u8]) -> Option<String> {
    let quoted = [b"\"", written, b"\""].concat();
    let id: String = serde_json::from_slice(&quoted).ok()?;
    (!id.is_empty() && id.len() <= LONGEST_ID).then_some(id)
}

#[cfg(test)]
#[path = "response_id_tests.rs"]
mod tests;
