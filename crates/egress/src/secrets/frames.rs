//! What a server says in a websocket. Values cannot be exchanged in it, as its frames have lengths; so a message is
//! searched, and the connection ends before any byte of a value has come through. What is held back goes by where
//! messages, frames and lines end, never by what the values are: code inside sees when a byte comes.

use std::collections::VecDeque;

use super::passing::ends_values;
use super::search::{Search, Seen};

/// More than the longest value in as many frames as a server would make of it.
const MOST_HELD: usize = 1 << 20;

#[derive(Default)]
pub(super) struct Frames {
    head: Vec<u8>,
    now: Option<Frame>,
    /// A message was begun and goes on in another frame. Other frames may stand between, about the connection.
    is_begun: bool,
    seen: Seen,
    /// What the frame about the connection said.
    aside: Vec<u8>,
    /// Bytes of messages that have come.
    said: u64,
    /// Where frames of the message begin: in what was said, and in what came.
    begins: VecDeque<(u64, u64)>,
    came: u64,
    /// What may be sent on.
    free: u64,
    done: u64,
    held: VecDeque<u8>,
}

#[derive(Clone, Copy)]
struct Frame {
    is_last: bool,
    is_aside: bool,
    left: u64,
    /// What each byte is changed by, in turn.
    mask: [u8; 4],
}

impl Frames {
    /// Sends on what can be no part of a value any more.
    pub(super) fn push(
        &mut self,
        search: &Search,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), &'static str> {
        if search.is_empty() {
            out.extend(bytes);
            return Ok(());
        }
        for byte in bytes {
            self.came += 1;
            self.held.push_back(*byte);
            match self.now {
                None => self.read_head(*byte)?,
                Some(frame) => self.read(search, frame, *byte)?,
            }
        }
        self.pass_long(search);
        let count = usize::try_from(self.free - self.done).unwrap_or(usize::MAX).min(self.held.len());
        out.extend(self.held.drain(..count));
        self.done = self.free;
        if self.held.len() > MOST_HELD {
            return Err("it speaks in too many small frames");
        }
        Ok(())
    }

    fn read_head(&mut self, byte: u8) -> Result<(), &'static str> {
        self.head.push(byte);
        let Some(frame) = frame(&self.head)? else { return Ok(()) };
        self.head.clear();
        if !frame.is_aside {
            while self.begins.back().is_some_and(|(said, _)| *said == self.said) {
                self.begins.pop_back();
            }
            self.begins.push_back((self.said, self.came));
        }
        match frame.left {
            0 => self.end(frame),
            _ => self.now = Some(frame),
        }
        Ok(())
    }

    fn read(&mut self, search: &Search, mut frame: Frame, byte: u8) -> Result<(), &'static str> {
        let byte = byte ^ frame.mask[0];
        frame.mask.rotate_left(1);
        frame.left -= 1;
        if frame.is_aside {
            self.aside.push(byte);
            if frame.left == 0 && search.is_in(&self.aside) {
                return Err("it repeats a secret");
            }
        } else {
            self.said += 1;
            if ends_values(byte) {
                self.seen = Seen::default();
                self.free = self.came;
            } else if self.seen.push(search, byte).is_some() {
                return Err("it repeats a secret");
            }
        }
        self.now = Some(frame);
        if frame.left == 0 {
            self.end(frame);
        }
        Ok(())
    }

    fn end(&mut self, frame: Frame) {
        self.now = None;
        match frame.is_aside {
            true => self.aside.clear(),
            false => self.is_begun = !frame.is_last,
        }
        if !self.is_begun {
            self.seen = Seen::default();
            self.free = self.came;
            self.begins.clear();
        }
    }

    /// Of a long message, what lies too far back for a value that goes on.
    fn pass_long(&mut self, search: &Search) {
        let Some(until) = self.said.checked_sub(search.most_begun() as u64) else { return };
        while self.begins.get(1).is_some_and(|(said, _)| *said <= until) {
            self.begins.pop_front();
        }
        if let Some((said, came)) = self.begins.front().filter(|(said, _)| *said <= until) {
            self.free = self.free.max(came + (until - said));
        }
    }
}

/// The head of a frame (RFC 6455, 5.2), once it is whole.
fn frame(head: &[u8]) -> Result<Option<Frame>, &'static str> {
    let [first, second, rest @ ..] = head else { return Ok(None) };
    if first & 0x70 != 0 {
        return Err(
            "its messages are changed in a way that nobody asked for, and cannot be searched for secrets",
        );
    }
    let in_length = match second & 0x7f {
        126 => 2,
        127 => 8,
        _ => 0,
    };
    let in_mask = if second & 0x80 == 0 { 0 } else { 4 };
    if rest.len() < in_length + in_mask {
        return Ok(None);
    }
    let (length, key) = rest.split_at(in_length);
    let left = match length.is_empty() {
        true => u64::from(second & 0x7f),
        false => length.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
    };
    let is_aside = first & 0x08 != 0;
    // They are held whole.
    if is_aside && left > 125 {
        return Err("it does not speak as websockets do");
    }
    let mask = key.try_into().unwrap_or_default();
    Ok(Some(Frame { is_last: first & 0x80 != 0, is_aside, left, mask }))
}

#[cfg(test)]
#[path = "frames_tests.rs"]
mod tests;
