//! A text that comes in pieces, with values replaced. What is held back at the end of a piece is the same whatever the
//! values are: code inside sees how long each piece is, and may have sent the text itself.

use std::collections::VecDeque;

use super::search::{Search, Seen};

/// What was seen of one stream.
#[derive(Default)]
pub(super) struct Passing {
    seen: Seen,
    /// How many bytes have come.
    came: u64,
    /// How many of them can be part of no value that goes on.
    passed: u64,
    /// How many of them were sent on, or left out.
    done: u64,
    /// Those that were not.
    held: VecDeque<u8>,
    /// Where values are, in order and apart from each other.
    runs: VecDeque<Run>,
}

struct Run {
    begin: u64,
    end: u64,
    which: usize,
    /// What stands for it was sent on.
    is_told: bool,
}

/// Values hold printable ASCII alone, in whatever form. So lines that are whole are not held back.
pub(super) fn ends_values(byte: u8) -> bool {
    !matches!(byte, b' '..=b'~')
}

impl Passing {
    /// Sends on what can be no part of a value any more.
    pub(super) fn push(&mut self, search: &Search, bytes: &[u8], out: &mut Vec<u8>) {
        if search.is_empty() {
            return out.extend(bytes);
        }
        self.held.extend(bytes);
        for byte in bytes {
            self.came += 1;
            if ends_values(*byte) {
                self.seen = Seen::default();
                self.passed = self.came;
            } else if let Some((length, which)) = self.seen.push(search, *byte) {
                self.mark(self.came - length as u64, which);
            }
        }
        let begun = self.came.saturating_sub(search.most_begun() as u64);
        self.release(search, self.passed.max(begun), out);
    }

    /// Nothing more comes.
    pub(super) fn finish(&mut self, search: &Search, out: &mut Vec<u8>) {
        self.release(search, self.came, out);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// A value reaches from `begin` to what came last. Those that overlap are one.
    fn mark(&mut self, begin: u64, which: usize) {
        while self.runs.back().is_some_and(|last| last.begin >= begin && !last.is_told) {
            self.runs.pop_back();
        }
        match self.runs.back_mut() {
            Some(last) if last.end > begin => last.end = self.came,
            _ => self.runs.push_back(Run { begin, end: self.came, which, is_told: false }),
        }
    }

    fn release(&mut self, search: &Search, until: u64, out: &mut Vec<u8>) {
        while self.done < until {
            let run = self.runs.front_mut().filter(|run| run.begin < until);
            let (to, is_value) = match run {
                None => (until, false),
                Some(run) if run.begin > self.done => (run.begin, false),
                Some(run) => {
                    if !run.is_told {
                        out.extend(search.stand_in(run.which));
                        run.is_told = true;
                    }
                    (run.end.min(until), true)
                }
            };
            let count = usize::try_from(to - self.done).unwrap_or(usize::MAX).min(self.held.len());
            let bytes = self.held.drain(..count);
            if !is_value {
                out.extend(bytes);
            }
            self.done = to;
            while self.runs.front().is_some_and(|run| run.end <= self.done) {
                self.runs.pop_front();
            }
        }
    }
}

#[cfg(test)]
#[path = "passing_tests.rs"]
mod tests;
