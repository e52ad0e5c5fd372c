//! Files in memory that nobody can change any more, whoever gets them.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::Errno;

/// Each takes the kernel 150 ms at most.
const TRIES: usize = 20;

/// `name` is what lists of open files show.
pub(crate) fn sealed(name: &str, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<OwnedFd> {
    let mut file = File::from(memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?);
    fill(&mut file)?;
    file.flush()?;
    let seals = SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    for _ in 1..TRIES {
        match fcntl_add_seals(file.as_fd(), seals) {
            // The kernel itself is looking at one of its pages, or moving it, as it does on a busy machine. It has
            // waited for that already, and soon it is over.
            Err(Errno::BUSY) => {}
            done => return Ok(done.map(|()| file.into())?),
        }
    }
    fcntl_add_seals(file.as_fd(), seals)?;
    Ok(file.into())
}

#[cfg(test)]
#[path = "sealed_tests.rs"]
mod tests;
