//! When the engine reads a kernel's output pipes.
//!
//! The kernel reads them itself before each frame it sends, which keeps everything in true order. So the
//! engine lets them be for a moment, and takes over only when the kernel does not: it is busy, or waits
//! for the very child that fills the pipe.

use std::io;
use std::time::Duration;

use tokio::net::unix::pipe::Receiver;
use tokio::time::Instant;

/// How long the kernel has to read them first.
const COURTESY: Duration = Duration::from_millis(10);
/// At most this much per turn, so that a flood cannot starve everything else.
const PER_TURN: usize = 1 << 20;
const CHUNK: usize = 16 * 1024;

#[derive(Debug, Default)]
pub(super) struct PipeTurn {
    due: Option<Instant>,
    /// A flood is under way: no courtesy, or the child that writes would wait for us each time.
    flood: bool,
    failed: bool,
}

impl PipeTurn {
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Whether it is of interest that a pipe can be read.
    pub(super) fn watching(&self) -> bool {
        self.due.is_none() && !self.failed
    }

    pub(super) fn saw(&mut self, ready: io::Result<()>) {
        match ready {
            Ok(()) => self.due = Some(Instant::now() + if self.flood { Duration::ZERO } else { COURTESY }),
            Err(_) => self.failed = true,
        }
    }

    /// Reads what is in both.
    pub(super) fn take(&mut self, stdout: &Receiver, stderr: &Receiver) -> (Vec<u8>, Vec<u8>) {
        let taken = (drain(stdout), drain(stderr));
        self.due = None;
        self.flood = taken.0.len() + taken.1.len() >= 2 * CHUNK;
        taken
    }
}

fn drain(pipe: &Receiver) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Through the runtime first, so that it learns when the pipe is empty; then past it, for what it has not
    // noticed yet: the last words of a process that just died.
    read_until_empty(&mut bytes, |chunk| pipe.try_read(chunk).ok());
    read_until_empty(&mut bytes, |chunk| rustix::io::read(pipe, chunk).ok());
    bytes
}

/// An end or an error is the same as nothing: the kernel's process is watched elsewhere.
fn read_until_empty(bytes: &mut Vec<u8>, mut read: impl FnMut(&mut [u8]) -> Option<usize>) {
    let mut chunk = [0u8; CHUNK];
    while bytes.len() < PER_TURN {
        match read(&mut chunk) {
            Some(length) if length > 0 => bytes.extend_from_slice(&chunk[..length]),
            _ => break,
        }
    }
}
