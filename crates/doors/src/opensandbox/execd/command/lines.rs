//! Output cut into lines: one event each, without its end; an empty line is told as that end alone.

/// A line that goes on for longer is told in pieces.
const LONGEST: usize = 64 << 10;

#[derive(Debug, Default)]
pub(super) struct Lines(Vec<u8>);

impl Lines {
    pub(super) fn add(&mut self, bytes: &[u8], mut tell: impl FnMut(&str)) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.0.extend_from_slice(part);
            if self.0.ends_with(b"\n") {
                self.0.pop();
                if self.0.ends_with(b"\r") {
                    self.0.pop();
                }
                let text = String::from_utf8_lossy(&self.0);
                tell(if text.is_empty() { "\n" } else { &text });
                self.0.clear();
            } else if self.0.len() >= LONGEST {
                // Not in the middle of a letter.
                let whole = whole_letters(&self.0);
                tell(&String::from_utf8_lossy(&self.0[..whole]));
                self.0.drain(..whole);
            }
        }
    }

    /// What was said last, without an end.
    pub(super) fn finish(&mut self, tell: impl FnOnce(&str)) {
        if !self.0.is_empty() {
            tell(&String::from_utf8_lossy(&std::mem::take(&mut self.0)));
        }
    }
}

fn whole_letters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => error.valid_up_to(),
        Ok(_) | Err(_) => bytes.len(),
    }
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
