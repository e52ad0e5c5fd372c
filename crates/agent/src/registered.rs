//! Descriptors that the loop waits on.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::rc::Rc;

use tokio::io::unix::AsyncFd;

/// What owns one descriptor, and the same one for its whole life.
pub(crate) trait Owns: AsRawFd {}
impl Owns for OwnedFd {}
impl Owns for File {}
impl Owns for Rc<OwnedFd> {}

pub(crate) fn registered<T: Owns>(descriptor: T) -> io::Result<AsyncFd<T>> {
    // SAFETY: its owner is owned by the result, and none of these owners ever changes its descriptor.
    unsafe { AsyncFd::register(descriptor) }.map_err(|error| error.into_parts().1)
}
