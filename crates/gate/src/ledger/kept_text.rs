//! Text for a record that may hold code and output: counted always, kept only where it may be, and of a long
//! one the beginning and the end.

use serde_json::Value;

/// Of each of the two ends.
const KEPT: usize = 32 << 10;

#[derive(Debug, Default)]
pub(super) struct KeptText {
    is_kept: bool,
    bytes: u64,
    head: String,
    tail: String,
    /// Bytes between the two.
    left_out: u64,
}

impl KeptText {
    pub(super) fn new(is_kept: bool) -> Self {
        Self { is_kept, ..Self::default() }
    }

    pub(super) fn whole(text: &str) -> Self {
        let mut kept = Self::new(true);
        kept.add(text);
        kept
    }

    pub(super) fn add(&mut self, text: &str) {
        self.bytes += text.len() as u64;
        if !self.is_kept {
            return;
        }
        // Nothing more fits the beginning once something did not.
        let room = if self.tail.is_empty() { KEPT.saturating_sub(self.head.len()) } else { 0 };
        let (head, rest) = text.split_at(text.floor_char_boundary(room));
        self.head.push_str(head);
        self.tail.push_str(rest);
        // Cut now and then, so that many small pieces cost little.
        if self.tail.len() > 2 * KEPT {
            self.cut();
        }
    }

    /// Something that is never kept.
    pub(super) fn count(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
    }

    fn cut(&mut self) {
        let over = self.tail.len().saturating_sub(KEPT);
        let over = self.tail.ceil_char_boundary(over);
        self.left_out += over as u64;
        self.tail.drain(..over);
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// None where it is not to be kept.
    pub(super) fn into_value(mut self) -> Option<Value> {
        if !self.is_kept {
            return None;
        }
        self.cut();
        let Self { head, tail, left_out, .. } = self;
        Some(if left_out == 0 {
            Value::String(head + &tail)
        } else {
            Value::String(format!("{head}\n[… {left_out} bytes left out …]\n{tail}"))
        })
    }
}

#[cfg(test)]
#[path = "kept_text_tests.rs"]
mod tests;
