//! Server-sent events, parsed as their bytes come in, wherever these are cut. Lines may end in LF, CR or
//! CRLF; comments, ids and retry times are passed over.

use std::collections::VecDeque;

/// The longest event, its name and its fields together. A whole response with images in it fits.
const EVENT_LIMIT: usize = 64 << 20;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    /// Empty where the event has no name.
    pub name: String,
    pub data: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    #[error("an event is longer than {0} bytes")]
    TooLong(usize),
    #[error("an event is not valid UTF-8")]
    NotUtf8,
    #[error("it ended in the middle of an event")]
    Half,
}

#[derive(Debug)]
pub struct SseParser {
    limit: usize,
    /// The beginning of a line whose end has not come yet.
    line: Vec<u8>,
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    first_line: bool,
    /// A line ended in CR with the last byte seen: an LF right after it belongs to that end.
    after_cr: bool,
    ready: VecDeque<SseEvent>,
}

impl Default for SseParser {
    fn default() -> Self {
        Self::with_limit(EVENT_LIMIT)
    }
}

impl SseParser {
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            name: Vec::new(),
            data: Vec::new(),
            has_data: false,
            first_line: true,
            after_cr: false,
            ready: VecDeque::new(),
        }
    }

    /// Takes the next bytes. Events that were complete before an error stay available.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<(), SseError> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) else {
                self.within_limit(bytes.len())?;
                self.line.extend_from_slice(bytes);
                break;
            };
            self.within_limit(end)?;
            self.after_cr = bytes[end] == b'\r';
            if self.line.is_empty() {
                self.end_line(&bytes[..end])?;
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(&bytes[..end]);
                self.end_line(&line)?;
                line.clear();
                self.line = line;
            }
            bytes = &bytes[end + 1..];
        }
        Ok(())
    }

    /// The next complete event.
    pub fn next_event(&mut self) -> Option<SseEvent> {
        self.ready.pop_front()
    }

    /// Says whether the bytes could end here.
    pub fn finish(&self) -> Result<(), SseError> {
        let comment = self.line.starts_with(b":");
        if self.has_data || !self.name.is_empty() || !(self.line.is_empty() || comment) {
            return Err(SseError::Half);
        }
        Ok(())
    }

    fn within_limit(&self, more: usize) -> Result<(), SseError> {
        let length = self.line.len() + self.name.len() + self.data.len() + more;
        if length > self.limit { Err(SseError::TooLong(self.limit)) } else { Ok(()) }
    }

    fn end_line(&mut self, mut line: &[u8]) -> Result<(), SseError> {
        if std::mem::take(&mut self.first_line) {
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        if line.is_empty() {
            return self.end_event();
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            _ => {}
        }
        Ok(())
    }

    fn end_event(&mut self) -> Result<(), SseError> {
        let name = std::mem::take(&mut self.name);
        let data = std::mem::take(&mut self.data);
        // An event without data is none: a name or a blank line alone says nothing.
        if !std::mem::take(&mut self.has_data) {
            return Ok(());
        }
        let name = String::from_utf8(name).map_err(|_| SseError::NotUtf8)?;
        let data = String::from_utf8(data).map_err(|_| SseError::NotUtf8)?;
        self.ready.push_back(SseEvent { name, data });
        Ok(())
    }
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;
