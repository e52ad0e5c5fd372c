//! The last of what something said, with places in it that stay right when the first is let go.

use std::collections::VecDeque;

use bytes::BytesMut;

/// As much as is kept of one.
const MOST: usize = 1 << 20;
/// Pieces are joined up to this size, so that many small ones take no more room than they hold.
const PIECE: usize = 4 << 10;
const MOST_PIECES: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Out,
    Err,
}

#[derive(Debug, Default)]
pub(super) struct Log {
    pieces: VecDeque<(Source, BytesMut)>,
    /// How much was let go.
    start: u64,
    held: usize,
}

impl Log {
    pub(super) fn add(&mut self, source: Source, bytes: &[u8]) {
        for bytes in bytes.chunks(PIECE) {
            match self.pieces.back_mut() {
                Some((last, piece)) if *last == source && piece.len() + bytes.len() <= PIECE => {
                    piece.extend_from_slice(bytes);
                }
                _ => self.pieces.push_back((source, BytesMut::from(bytes))),
            }
            self.held += bytes.len();
            while self.held > MOST || self.pieces.len() > MOST_PIECES {
                let Some((_, first)) = self.pieces.pop_front() else { break };
                self.held -= first.len();
                self.start += first.len() as u64;
            }
        }
    }

    /// Where the next byte will be.
    pub(super) fn end(&self) -> u64 {
        self.start + self.held as u64
    }

    /// What there is from a place on, and where that begins: later than asked when the first was let go, earlier
    /// when nothing is there yet.
    pub(super) fn after(&self, place: u64) -> (u64, Vec<(Source, &[u8])>) {
        let begins = place.clamp(self.start, self.end());
        let mut skip = usize::try_from(begins - self.start).unwrap_or(usize::MAX);
        let mut rest = Vec::new();
        for (source, piece) in &self.pieces {
            match piece.get(skip..) {
                Some([]) => skip = 0,
                Some(part) => {
                    rest.push((*source, part));
                    skip = 0;
                }
                None => skip -= piece.len(),
            }
        }
        (begins, rest)
    }
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
