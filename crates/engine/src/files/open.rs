//! Opening things below a volume's root, whatever links and names are in the way.

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use sandgate_core::{BackendError, Result, SandboxPath};

/// How often a path that changes while it is resolved is tried.
const MAX_TRIES: usize = 32;

/// Opens `path` as a process with the volume's root as its root would. Links are followed inside it.
pub(super) fn open_in(root: BorrowedFd<'_>, path: &SandboxPath, flags: OFlags) -> Result<OwnedFd> {
    let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_XDEV;
    for _ in 0..MAX_TRIES {
        let flags = flags | OFlags::CLOEXEC | not_waiting(flags);
        match openat2(root, path.as_str(), flags, Mode::empty(), resolve) {
            // The kernel gives up when the tree changes under it; code inside may do that on purpose, but not for ever.
            Err(Errno::AGAIN | Errno::INTR) => {}
            other => return other.map_err(|error| file_error(path, error)),
        }
    }
    Err(refused(path, "it is being changed or held by code inside; try again"))
}

/// The name may turn out to be a pipe with nobody at its other end. A mere handle opens nothing, and the
/// kernel is strict about flags that would then mean nothing.
fn not_waiting(flags: OFlags) -> OFlags {
    if flags.contains(OFlags::PATH) { OFlags::empty() } else { OFlags::NONBLOCK | OFlags::NOCTTY }
}

/// The folder that holds `path`, and the last name in it.
pub(super) fn open_parent<'a>(root: BorrowedFd<'_>, path: &'a SandboxPath) -> Result<(OwnedFd, &'a str)> {
    let (parent, name) = path.split().ok_or_else(|| refused(path, "that is the root itself"))?;
    Ok((open_in(root, &parent, OFlags::PATH | OFlags::DIRECTORY)?, name))
}

pub(super) fn file_error(path: &SandboxPath, error: Errno) -> BackendError {
    match error {
        Errno::NOENT => BackendError::NoSuchFile(path.to_string()),
        Errno::NOTDIR => refused(path, "a part of the path is not a folder"),
        Errno::ISDIR => refused(path, "that is a folder"),
        Errno::LOOP => refused(path, "too many links, or a link where none may be"),
        Errno::XDEV => refused(path, "the path leads out of the sandbox"),
        Errno::NOTEMPTY => refused(path, "code inside goes on filling the folder; stop it and try again"),
        Errno::NOSPC | Errno::DQUOT => refused(path, "the host's disk is full"),
        other => refused(path, &std::io::Error::from(other).to_string()),
    }
}

pub(super) fn refused(path: &SandboxPath, reason: &str) -> BackendError {
    BackendError::File { path: path.to_string(), reason: reason.to_owned() }
}
