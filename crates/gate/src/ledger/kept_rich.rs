//! Pictures and tables for a record that may hold code and output: what a person can look at later, of a size
//! that a record can bear.

use sandgate_core::MimeBundle;
use serde_json::Value;

/// Of each thing that was shown the first kind that is there: one is enough to look at.
const KINDS: [&str; 4] = ["image/png", "image/jpeg", "image/svg+xml", "text/html"];
const MOST: usize = 20;
const MOST_BYTES: usize = 512 << 10;
const MOST_IN_ALL: usize = 1 << 20;

#[derive(Debug)]
pub(super) struct KeptRich {
    is_kept: bool,
    bytes: usize,
    kept: Vec<Value>,
    left_out: u64,
}

impl KeptRich {
    pub(super) fn new(is_kept: bool) -> Self {
        Self { is_kept, bytes: 0, kept: Vec::new(), left_out: 0 }
    }

    pub(super) fn add(&mut self, data: &MimeBundle) {
        if !self.is_kept {
            return;
        }
        let rich = |kind: &&str| data.get(*kind).and_then(Value::as_str).map(|text| (kind.to_string(), text));
        let Some((kind, text)) = KINDS.iter().find_map(rich) else { return };
        let fits =
            text.len() <= MOST_BYTES && self.bytes + text.len() <= MOST_IN_ALL && self.kept.len() < MOST;
        if !fits {
            self.left_out += 1;
            return;
        }
        self.bytes += text.len();
        self.kept.push(serde_json::json!({"kind": kind, "data": text}));
    }

    /// What is kept, and how many were too large or too many. None: nothing was shown, or it is not to be kept.
    pub(super) fn into_value(self) -> Option<Value> {
        let is_empty = self.kept.is_empty() && self.left_out == 0;
        (!is_empty).then(|| serde_json::json!({"data": self.kept, "left_out": self.left_out}))
    }
}

#[cfg(test)]
#[path = "kept_rich_tests.rs"]
mod tests;
