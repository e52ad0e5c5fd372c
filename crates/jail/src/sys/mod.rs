//! System calls, each as a safe function with a typed result. The unsafe code of this crate that talks to the
//! kernel is here and in the forks of `process.rs`.

mod attributes;
mod descriptors;
mod memory;
mod mounting;
mod netlink;
mod network;
mod processes;
mod rights;
mod signals;

use std::ffi::CString;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use crate::{Result, StepError};

pub use attributes::*;
pub use descriptors::*;
pub use memory::*;
pub use mounting::*;
pub use netlink::*;
pub use network::*;
pub use processes::*;
pub use rights::*;
pub use signals::*;

/// Turns the C convention of -1 and errno into a result.
fn check(step: &'static str, returned: impl Into<i64>) -> Result<i64> {
    let returned = returned.into();
    if returned < 0 { Err(StepError::last(step)) } else { Ok(returned) }
}

fn owned(step: &'static str, returned: impl Into<i64>) -> Result<OwnedFd> {
    let raw = check(step, returned)?;
    let raw = RawFd::try_from(raw).map_err(|_| StepError::new(step, io::Error::other("odd descriptor")))?;
    // SAFETY: the kernel has just handed this descriptor to us and nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}

/// A C string; a NUL inside is a bug of the caller and becomes an error, not a cut-off path.
pub fn c_string(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| StepError::new("C string", io::ErrorKind::InvalidInput.into()).on(text))
}
