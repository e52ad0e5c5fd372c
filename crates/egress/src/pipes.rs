//! Pipes through which the kernel moves bytes from one connection to another, without copying them. One is borrowed
//! only while bytes are in it, so that a few serve many connections.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};
use tokio::io::Interest;
use tokio::net::TcpStream;

/// In the whole server. Who finds none copies.
const MOST: usize = 128;
/// Kept open for the next.
const MOST_KEPT: usize = 16;
/// The most that one holds.
pub(crate) const SIZE: usize = 1 << 20;
/// Bytes that are read where the kernel does not move them.
const PAST_URGENT: usize = 4 << 10;

#[derive(Debug, Default)]
pub(crate) struct Pipes {
    kept: Mutex<Vec<Pipe>>,
    lent: AtomicUsize,
}

#[derive(Debug)]
struct Pipe {
    from: OwnedFd,
    into: OwnedFd,
}

impl Pipe {
    fn open() -> io::Result<Self> {
        let (from, into) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        // Who may not have a large one, as an ordinary user with many of them may not, is better off without.
        fcntl_setpipe_size(&into, SIZE)?;
        Ok(Self { from, into })
    }
}

impl Pipes {
    /// An empty one, if there is one to be had.
    pub(crate) fn borrow(&self) -> Option<Borrowed<'_>> {
        let lent = self.lent.fetch_add(1, Ordering::AcqRel);
        let mut borrowed = Borrowed { pipes: self, pipe: None, holds: 0 };
        if lent < MOST {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).pop();
            borrowed.pipe = kept.or_else(|| Pipe::open().ok());
        }
        borrowed.pipe.is_some().then_some(borrowed)
    }
}

pub(crate) struct Borrowed<'a> {
    pipes: &'a Pipes,
    pipe: Option<Pipe>,
    holds: usize,
}

/// How many bytes were taken, and where they are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Filled {
    Moved(usize),
    Copied(Vec<u8>),
}

impl Borrowed<'_> {
    /// Takes at most `most` bytes out of `from`, as many as are there. None: it has ended.
    pub(crate) fn fill(&mut self, from: &TcpStream, most: usize) -> io::Result<Filled> {
        let Some(pipe) = &self.pipe else { return Ok(Filled::Moved(0)) };
        let filled = from.try_io(Interest::READABLE, || {
            match splice(from, None, &pipe.into, None, most, MOVE) {
                Ok(took) => Ok(Filled::Moved(took)),
                // Before urgent data the kernel moves no more: reading alone passes it. To read whenever there was
                // nothing would be to copy what has come since, a little at a time.
                Err(Errno::AGAIN) if has_urgent(from) => {
                    let mut bytes = [0; PAST_URGENT];
                    let most = most.min(PAST_URGENT);
                    let (read, _) = recv(from, &mut bytes[..most], RecvFlags::DONTWAIT)?;
                    Ok(Filled::Copied(bytes[..read].to_vec()))
                }
                Err(error) => Err(error.into()),
            }
        })?;
        if let Filled::Moved(took) = filled {
            self.holds += took;
        }
        Ok(filled)
    }

    /// Gives all of it to `to`.
    pub(crate) async fn empty(&mut self, to: &TcpStream) -> io::Result<()> {
        let Some(pipe) = &self.pipe else { return Ok(()) };
        while self.holds > 0 {
            let gave =
                to.async_io(Interest::WRITABLE, || Ok(splice(&pipe.from, None, to, None, self.holds, MOVE)?));
            match gave.await? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                gave => self.holds -= gave,
            }
        }
        Ok(())
    }
}

fn has_urgent(stream: &TcpStream) -> bool {
    let mut asked = [PollFd::new(stream, PollFlags::PRI)];
    matches!(poll(&mut asked, Some(&Timespec::default())), Ok(1..))
        && asked[0].revents().contains(PollFlags::PRI)
}

const MOVE: SpliceFlags = SpliceFlags::MOVE.union(SpliceFlags::NONBLOCK);

impl Drop for Borrowed<'_> {
    /// One with bytes of a connection in it is never used for another.
    fn drop(&mut self) {
        self.pipes.lent.fetch_sub(1, Ordering::AcqRel);
        if self.holds == 0
            && let Some(pipe) = self.pipe.take()
        {
            let mut kept = self.pipes.kept.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() < MOST_KEPT {
                kept.push(pipe);
            }
        }
    }
}

#[cfg(test)]
#[path = "pipes_tests.rs"]
mod tests;
