//! Turns a kernel's output bytes into text and keeps it within the limit.

use sandgate_core::{MimeBundle, human_bytes};

/// How far past the limit a run may go on printing before it is ended.
const GIVE_UP_FACTOR: u64 = 10;

/// What one event weighs beyond its content, past the number that any honest run may have.
const EVENT_WEIGHT: u64 = 128;
const FREE_EVENTS: u64 = 10_000;

/// Bytes to text across arbitrary cuts; what is not UTF-8 becomes the replacement character.
#[derive(Debug, Default)]
pub(crate) struct TextDecoder {
    /// The beginning of a character whose rest has not come yet; at most three bytes.
    partial: Vec<u8>,
}

impl TextDecoder {
    pub(crate) fn push(&mut self, bytes: &[u8]) -> String {
        let mut input = std::mem::take(&mut self.partial);
        input.extend_from_slice(bytes);
        let mut text = String::with_capacity(input.len());
        let mut rest = input.as_slice();
        loop {
            match std::str::from_utf8(rest) {
                Ok(valid) => {
                    text.push_str(valid);
                    return text;
                }
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    text.push_str(&String::from_utf8_lossy(valid));
                    match error.error_len() {
                        Some(length) => {
                            text.push(char::REPLACEMENT_CHARACTER);
                            rest = &after[length..];
                        }
                        None => {
                            self.partial = after.to_vec();
                            return text;
                        }
                    }
                }
            }
        }
    }

    /// What is left when no more will come.
    pub(crate) fn finish(&mut self) -> String {
        let cut = !std::mem::take(&mut self.partial).is_empty();
        if cut { char::REPLACEMENT_CHARACTER.to_string() } else { String::new() }
    }
}

/// Counts what a run puts out and says how much of it is kept.
#[derive(Debug)]
pub(crate) struct OutputMeter {
    limit: u64,
    seen: u64,
    dropped: u64,
    events: u64,
}

impl OutputMeter {
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, seen: 0, dropped: 0, events: 0 }
    }

    /// Every event costs the server something, however little it says.
    pub(crate) fn count_event(&mut self) {
        self.events += 1;
        if self.events > FREE_EVENTS {
            self.seen += EVENT_WEIGHT;
        }
    }

    /// The part of `text` that still fits.
    pub(crate) fn keep_text(&mut self, mut text: String) -> String {
        let room = usize::try_from(self.limit.saturating_sub(self.seen)).unwrap_or(usize::MAX);
        self.seen += text.len() as u64;
        if text.len() > room {
            let cut = text.floor_char_boundary(room);
            self.dropped += (text.len() - cut) as u64;
            text.truncate(cut);
        }
        text
    }

    /// Rich values are kept whole or not at all; `left_out` bytes of them were too large to look at.
    pub(crate) fn keep_bundle(&mut self, data: MimeBundle, left_out: u64) -> Option<MimeBundle> {
        self.dropped += left_out;
        let size: u64 = data.iter().map(|(kind, value)| kind.len() as u64 + weight(value)).sum::<u64>() + 1;
        let fits = self.seen + size <= self.limit;
        self.seen += size + left_out;
        if fits {
            return Some(data);
        }
        self.dropped += size;
        None
    }

    /// An error's lines, as many as fit.
    pub(crate) fn keep_lines(&mut self, lines: Vec<String>) -> Vec<String> {
        let mut kept = Vec::new();
        for line in lines {
            // The end of the line counts too, or empty lines would be free.
            self.seen += 1;
            let line = self.keep_text(line);
            if self.seen > self.limit {
                break;
            }
            kept.push(line);
        }
        kept
    }

    /// How much was dropped, in words; None: nothing.
    pub(crate) fn trimmed(&self) -> Option<String> {
        (self.dropped > 0).then(|| {
            format!(
                "the output limit of {} was reached; {} bytes after it were dropped",
                human_bytes(self.limit),
                self.dropped
            )
        })
    }

    /// The run prints without end.
    pub(crate) fn hopeless(&self) -> bool {
        self.seen > self.limit.saturating_mul(GIVE_UP_FACTOR)
    }

    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }
}

/// About as many bytes as the value takes, written or in memory.
fn weight(value: &serde_json::Value) -> u64 {
    use serde_json::Value;
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 16,
        Value::String(text) => text.len() as u64 + 2,
        Value::Array(items) => 16 + items.iter().map(weight).sum::<u64>(),
        Value::Object(fields) => {
            16 + fields.iter().map(|(key, value)| key.len() as u64 + weight(value)).sum::<u64>()
        }
    }
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
