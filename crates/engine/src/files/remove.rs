//! Removing a tree that hostile code made: any depth, any names, links never followed.
//!
//! Folders are moved up to one flat folder before they are emptied, so that depth costs neither stack nor
//! descriptors nor path length.

use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, mkdirat, open, openat, renameat, unlinkat};
use rustix::io::Errno;
use sandgate_core::random_hex;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Removes `path` with all it holds. What is not there is fine.
pub(crate) fn remove_all(path: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let parent = match open(parent, FOLDER, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(()),
        other => other?,
    };
    let name = CString::new(name.as_encoded_bytes())?;
    Ok(remove_entry(parent.as_fd(), &name, parent.as_fd())?)
}

/// Removes `name` in `folder`. `aside` is a folder of the same file system, out of the reach of whoever made
/// the tree, where its parts are moved while they wait.
pub(crate) fn remove_entry(folder: BorrowedFd<'_>, name: &CStr, aside: BorrowedFd<'_>) -> Result<(), Errno> {
    match unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        // Which of the two a folder gives depends on the file system.
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(error) => return Err(error),
    }
    let trash_name = CString::new(format!(".trash-{}", random_hex(8))).map_err(|_| Errno::INVAL)?;
    mkdirat(aside, &trash_name, Mode::from_raw_mode(0o700))?;
    let trash = openat(aside, &trash_name, FOLDER, Mode::empty())?;
    let emptied =
        Trash { folder: trash, entries: 0, moved: 0, waiting: Vec::new() }.take_and_empty(folder, name);
    // Also after a failure, so that an empty folder is not left; a full one stays and is said below.
    let removed = unlinkat(aside, &trash_name, AtFlags::REMOVEDIR);
    emptied.and(removed)
}

/// How often a folder is read anew. Code that still holds it could fill it for ever.
const MAX_ROUNDS: usize = 16;
/// Entries taken away in all, for the same reason: a hundred times what a volume may hold.
const MAX_ENTRIES: u64 = 10_000_000;

struct Trash {
    folder: OwnedFd,
    entries: u64,
    moved: u64,
    waiting: Vec<CString>,
}

impl Trash {
    fn take_and_empty(mut self, from: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
        self.take(from, name)?;
        while let Some(next) = self.waiting.pop() {
            self.empty(&next)?;
            unlinkat(&self.folder, &next, AtFlags::REMOVEDIR)?;
        }
        Ok(())
    }

    /// Moves a folder in here, under a short name.
    fn take(&mut self, from: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
        let place = CString::new(self.moved.to_string()).map_err(|_| Errno::INVAL)?;
        self.moved += 1;
        make_movable(from, name);
        renameat(from, name, &self.folder, &place)?;
        self.waiting.push(place);
        Ok(())
    }

    /// Unlinks what a folder holds, and moves the folders in it up beside it.
    fn empty(&mut self, name: &CStr) -> Result<(), Errno> {
        make_movable(self.folder.as_fd(), name);
        let opened = openat(&self.folder, name, FOLDER, Mode::empty())?;
        for _ in 0..MAX_ROUNDS {
            // Read anew after each round: entries may be passed over while others are removed.
            let mut found = false;
            for entry in Dir::read_from(&opened)?.flatten() {
                let child = entry.file_name();
                if child == c"." || child == c".." {
                    continue;
                }
                found = true;
                self.entries += 1;
                if self.entries > MAX_ENTRIES {
                    return Err(Errno::NOTEMPTY);
                }
                match unlinkat(&opened, child, AtFlags::empty()) {
                    Ok(()) | Err(Errno::NOENT) => {}
                    Err(Errno::ISDIR | Errno::PERM) => self.take(opened.as_fd(), child)?,
                    Err(error) => return Err(error),
                }
            }
            if !found {
                return Ok(());
            }
        }
        Err(Errno::NOTEMPTY)
    }
}

/// An engine of an ordinary user cannot pass a folder whose rights were taken away; it may give them back,
/// to a folder that it holds by a handle and has seen to be one.
fn make_movable(folder: BorrowedFd<'_>, name: &CStr) {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::PermissionsExt;
    if rustix::process::geteuid().is_root() {
        return;
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    if let Ok(handle) = openat(folder, name, flags, Mode::empty()) {
        let path = format!("/proc/self/fd/{}", handle.as_raw_fd());
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o700));
    }
}

/// A handle on an existing folder.
pub(crate) fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    Ok(openat(CWD, path, FOLDER, Mode::empty())?)
}

#[cfg(test)]
#[path = "remove_tests.rs"]
mod tests;
