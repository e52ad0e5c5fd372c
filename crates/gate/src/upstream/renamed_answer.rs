//! The model's name in an answer that is passed on: the upstream's is exchanged for the client's as the
//! bytes go by. Only a key `model` with exactly that value is touched; in a text the quotes would have a
//! backslash before them.

use ::http::{HeaderMap, header};
use bytes::{Bytes, BytesMut};
use memchr::memmem;
use serde_json::Value;

/// Keeps back only bytes that may be the beginning of what it looks for, so that events are not delayed.
#[derive(Debug)]
pub(super) struct Renamer {
    /// What to look for, and what to put there: without and with a space after the colon.
    pairs: [(Vec<u8>, Vec<u8>); 2],
    held: BytesMut,
}

impl Renamer {
    pub(super) fn new(from: &str, to: &str) -> Self {
        let written =
            |space: &str, name: &str| format!("\"model\":{space}{}", Value::from(name)).into_bytes();
        let pair = |space| (written(space, from), written(space, to));
        Self { pairs: [pair(""), pair(" ")], held: BytesMut::new() }
    }

    /// What can go on now.
    pub(super) fn take(&mut self, data: &[u8]) -> Bytes {
        self.held.extend_from_slice(data);
        let mut out = BytesMut::with_capacity(self.held.len());
        while let Some((at, from, to)) = self.first() {
            out.extend_from_slice(&self.held.split_to(at));
            out.extend_from_slice(&to);
            let _ = self.held.split_to(from);
        }
        let keep = self.may_begin();
        let now = self.held.len() - keep;
        out.extend_from_slice(&self.held.split_to(now));
        out.freeze()
    }

    /// What was kept back.
    pub(super) fn end(mut self) -> Bytes {
        self.held.split().freeze()
    }

    /// Where the first one stands, how long it is, and what comes in its place.
    fn first(&self) -> Option<(usize, usize, Vec<u8>)> {
        let found = self
            .pairs
            .iter()
            .filter_map(|(from, to)| memmem::find(&self.held, from).map(|at| (at, from.len(), to.clone())));
        found.min_by_key(|(at, ..)| *at)
    }

    /// How many bytes at the end may be the beginning of one.
    fn may_begin(&self) -> usize {
        let longest = |from: &[u8]| {
            let most = self.held.len().min(from.len() - 1);
            (1..=most).rev().find(|length| self.held.ends_with(&from[..*length])).unwrap_or(0)
        };
        self.pairs.iter().map(|(from, _)| longest(from)).max().unwrap_or(0)
    }
}

/// Whether an answer is text in which names can be found: JSON or events, not compressed.
pub(super) fn can_be_renamed(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.to_ascii_lowercase();
    let is_text = kind.contains("json") || kind.contains("event-stream");
    is_text && headers.get(header::CONTENT_ENCODING).is_none_or(|encoding| encoding == "identity")
}

#[cfg(test)]
#[path = "renamed_answer_tests.rs"]
mod tests;
