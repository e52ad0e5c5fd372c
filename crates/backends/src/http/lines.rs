//! Lines of an answer that goes on: JSON by line, with `data:` before it or without.

use bytes::BytesMut;

use super::{Answer, HttpError};

#[derive(Debug)]
pub(crate) struct Lines {
    answer: Answer,
    longest: usize,
    buffer: BytesMut,
    /// Bytes at the front of the buffer that are known to hold no end of a line.
    seen: usize,
    ended: bool,
}

impl Lines {
    pub(super) fn new(answer: Answer, longest: usize) -> Self {
        Self { answer, longest, buffer: BytesMut::new(), seen: 0, ended: false }
    }

    /// The next line that has something on it, without its end; None when the answer is over. Can be
    /// dropped while it waits: nothing is lost.
    pub(crate) async fn next(&mut self) -> Result<Option<BytesMut>, HttpError> {
        loop {
            if let Some(line) = self.take_line() {
                if line.iter().all(u8::is_ascii_whitespace) {
                    continue;
                }
                return Ok(Some(line));
            }
            if self.ended {
                return Ok(None);
            }
            if self.buffer.len() > self.longest {
                return Err(HttpError::TooLong { what: "a line of the answer", limit: self.longest });
            }
            match self.answer.chunk().await? {
                Some(data) => self.buffer.extend_from_slice(&data),
                None => self.ended = true,
            }
        }
    }

    pub(crate) fn presentable(&self, text: &str) -> String {
        self.answer.presentable(text)
    }

    fn take_line(&mut self) -> Option<BytesMut> {
        if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.seen..]) {
            let mut line = self.buffer.split_to(self.seen + at + 1);
            self.seen = 0;
            line.truncate(line.len() - 1);
            return Some(line);
        }
        self.seen = self.buffer.len();
        if self.ended && !self.buffer.is_empty() {
            self.seen = 0;
            return Some(self.buffer.split());
        }
        None
    }
}
