//! Ids in the form the real service gives out: one prefix of random digits for all ids of a response.

use std::time::{SystemTime, UNIX_EPOCH};

const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Makes the ids of one response.
#[derive(Debug)]
pub(crate) struct Ids {
    shared: String,
}

impl Ids {
    pub(crate) fn new() -> Self {
        Self { shared: hex(16) }
    }

    /// `msg` gives `msg_` and fifty hex digits, the time among them.
    pub(crate) fn make(&self, prefix: &str) -> String {
        format!("{prefix}_{}00{:08x}{}", self.shared, now_seconds(), hex(24))
    }
}

pub(crate) fn call_id() -> String {
    format!("call_{}", letters(24))
}

/// A random text of digits and letters.
pub(crate) fn letters(count: usize) -> String {
    random(count).iter().map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()])).collect()
}

pub(crate) fn hex(count: usize) -> String {
    random(count).iter().map(|byte| char::from(b"0123456789abcdef"[usize::from(byte % 16)])).collect()
}

fn random(count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    // Without a source of randomness the ids are all alike, which the tests then say.
    if getrandom::fill(&mut bytes).is_err() {
        bytes.fill(0);
    }
    bytes
}

pub(crate) fn now_seconds() -> u64 {
    now_ms() / 1000
}

pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
