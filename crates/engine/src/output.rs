//! Turns a kernel's output bytes into text and keeps it within the limit.

use sandgate_core::{MimeBundle, human_bytes};

/// How far past the limit a run may go on printing before it is ended.
const GIVE_UP_FACTOR: u64 = 10;

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
}

impl OutputMeter {
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, seen: 0, dropped: 0 }
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

    /// Rich values are kept whole or not at all.
    pub(crate) fn keep_bundle(&mut self, data: MimeBundle) -> Option<MimeBundle> {
        let size: u64 = data.values().map(|value| value.as_str().map_or(64, str::len) as u64).sum();
        let fits = self.seen + size <= self.limit;
        self.seen += size;
        if fits {
            return Some(data);
        }
        self.dropped += size;
        None
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

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
