//! Terminals: the pair of descriptors, their size, and which process they belong to.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags, open};
use sandgate_agent::protocol::Size;
use tokio::io::unix::AsyncFd;

use crate::registered::registered;

/// The end that the server reads and writes, through the loop.
#[derive(Debug)]
pub(crate) struct Terminal(AsyncFd<File>);

fn check(returned: libc::c_int) -> io::Result<()> {
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A new terminal of this size: the server's end, and the one for a process.
pub(crate) fn make(size: Size) -> io::Result<(Terminal, OwnedFd)> {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let master = open("/dev/ptmx", flags | OFlags::NONBLOCK, Mode::empty())?;
    let (mut number, unlocked): (libc::c_uint, libc::c_int) = (0, 0);
    // SAFETY: both requests take a pointer to a number, which outlives the call.
    unsafe {
        check(libc::ioctl(master.as_raw_fd(), libc::TIOCSPTLCK, &raw const unlocked))?;
        check(libc::ioctl(master.as_raw_fd(), libc::TIOCGPTN, &raw mut number))?;
    }
    let inner = open(format!("/dev/pts/{number}"), flags, Mode::empty())?;
    resize(master.as_fd(), size)?;
    Ok((Terminal(registered(File::from(master))?), inner))
}

fn resize(terminal: BorrowedFd<'_>, size: Size) -> io::Result<()> {
    let size = libc::winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the request takes a pointer to a size, which outlives the call.
    check(unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCSWINSZ, &raw const size) })
}

/// Makes its standard input the terminal of the calling process, which leads a session and has none yet.
pub(crate) fn take_as_own() -> io::Result<()> {
    // SAFETY: takes numbers.
    check(unsafe { libc::ioctl(0, libc::TIOCSCTTY, 0) })
}

impl Terminal {
    pub(crate) fn resize(&self, size: Size) {
        // One whose process is gone has no size to change.
        let _ = resize(self.0.get_ref().as_fd(), size);
    }

    /// 0: nobody has the other end any more.
    pub(crate) async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        use std::io::Read;
        loop {
            let mut ready = self.0.readable().await?;
            match ready.try_io(|terminal| terminal.get_ref().read(buffer)) {
                Ok(Err(error)) if error.raw_os_error() == Some(libc::EIO) => return Ok(0),
                Ok(done) => return done,
                Err(_not_ready) => {}
            }
        }
    }

    /// What is there, without waiting.
    pub(crate) fn read_now(&self, buffer: &mut [u8]) -> io::Result<usize> {
        use std::io::Read;
        self.0.get_ref().read(buffer)
    }

    pub(crate) async fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        use std::io::Write;
        while !bytes.is_empty() {
            let mut ready = self.0.writable().await?;
            match ready.try_io(|terminal| terminal.get_ref().write(bytes)) {
                Ok(written) => bytes = &bytes[written?..],
                Err(_not_ready) => {}
            }
        }
        Ok(())
    }
}
