//! How the engine and its helpers talk: one packet is a few words, with descriptors beside them.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::{Result, StepError, sys};

const MAX_BYTES: usize = 64 * 1024;

/// Words and descriptors of one packet.
#[derive(Debug, Default)]
pub struct Message {
    pub words: Vec<String>,
    pub fds: Vec<OwnedFd>,
}

impl Message {
    /// The word at `index` as a number; helpers and engine are one program, so a miss is a bug, said plainly.
    pub fn number(&self, index: usize) -> Result<u64> {
        let word = self.words.get(index).map(String::as_str).unwrap_or_default();
        word.parse().map_err(|_| malformed(format!("word {index} is '{word}', not a number")))
    }

    pub fn word(&self, index: usize) -> Result<&str> {
        self.words.get(index).map(String::as_str).ok_or_else(|| malformed(format!("word {index} is missing")))
    }
}

fn malformed(what: String) -> StepError {
    StepError::new("reading a helper message", std::io::Error::other(what))
}

/// One end of a packet socket.
#[derive(Debug)]
pub struct Channel(OwnedFd);

impl Channel {
    #[must_use]
    pub fn new(socket: OwnedFd) -> Self {
        Self(socket)
    }

    /// Refuses what the other end could not read: it would take that for the end of us both.
    pub fn send(&self, words: &[&str], fds: &[BorrowedFd<'_>]) -> Result<()> {
        let text = words.join("\0");
        if text.len() > MAX_BYTES {
            return Err(malformed(format!("{} bytes are too many for one message", text.len())));
        }
        sys::send_message(self.0.as_fd(), text.as_bytes(), fds)
    }

    /// None: the other end is gone.
    pub fn receive(&self) -> Result<Option<Message>> {
        let mut buffer = vec![0u8; MAX_BYTES];
        let (length, fds) = sys::receive_message(self.0.as_fd(), &mut buffer)?;
        if length == 0 {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&buffer[..length]);
        Ok(Some(Message { words: text.split('\0').map(str::to_owned).collect(), fds }))
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
