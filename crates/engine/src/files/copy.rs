//! A copy of a tree that hostile code made: links as they are, devices, sockets and pipes left out, files with
//! several names once for each, all of it within what the copy may hold and what the disk has to give.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, Stat, Timespec, Timestamps, Uid, chownat, fchmod, fchown, fstat,
    futimens, mkdirat, openat, readlinkat, symlinkat, utimensat,
};
use rustix::io::Errno;
use sandgate_core::space_is_short;

use super::copy_file::copy_file;
use super::tree::{Moved, Visitor, walk};

/// Folders of the copy on the way down that stay open, as in the walk.
const OPEN_AT_ONCE: usize = 32;
/// How many entries are made between two looks at the disk.
const LOOK_EVERY: u64 = 256;
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

#[derive(Debug, thiserror::Error)]
pub(crate) enum CopyError {
    #[error("a copy of the sandbox: its files are more than the {0} bytes that it may hold")]
    TooLarge(u64),
    #[error("a copy of the sandbox: its files are more than the {0} that it may hold")]
    TooMany(u64),
    #[error("a copy of the sandbox: the host's disk is nearly full")]
    DiskIsShort,
    #[error("the files changed too much while they were copied; try again")]
    Changing,
    #[error("the engine ends")]
    Stopped,
    #[error("the files of a sandbox could not be copied: {0}")]
    System(#[from] Errno),
}

/// What a copy may take, and whether it is still wanted.
pub(crate) struct Bounds<'a> {
    pub(crate) bytes: u64,
    pub(crate) entries: u64,
    pub(crate) is_stopped: &'a dyn Fn() -> bool,
}

/// Copies the folders `tops`, which both have, from below `from` to below `to`, where all will belong to `owner`.
pub(crate) fn copy_tree(
    from: BorrowedFd<'_>,
    to: BorrowedFd<'_>,
    tops: &[&str],
    owner: Option<u32>,
    bounds: Bounds<'_>,
) -> Result<(), CopyError> {
    let mut copying =
        Copying { bounds, owner, bytes: 0, entries: 0, folders: Vec::new(), next: None, failed: None };
    for top in tops {
        let stat = fstat(openat(from, *top, OFlags::PATH | FOLDER, Mode::empty())?)?;
        copying.folders.push(Folder { made: Some(openat(to, *top, FOLDER, Mode::empty())?), stat });
        walk(from, top, (), &mut copying).map_err(|Moved| CopyError::Changing)?;
        if let Some(error) = copying.failed {
            return Err(error);
        }
        copying.finish_folder()?;
    }
    Ok(())
}

pub(super) struct Copying<'a> {
    pub(super) bounds: Bounds<'a>,
    owner: Option<u32>,
    pub(super) bytes: u64,
    entries: u64,
    /// From the top down to where the walk is.
    folders: Vec<Folder>,
    /// Of the folder that the walk may go into next.
    next: Option<Stat>,
    failed: Option<CopyError>,
}

/// A folder of the copy that is being filled.
struct Folder {
    /// None: far up, to be opened again on the way back.
    made: Option<OwnedFd>,
    /// Of the one it is a copy of.
    stat: Stat,
}

impl Copying<'_> {
    /// Before anything is made, and now and then in a large file.
    pub(super) fn look_at_disk(&self, on: BorrowedFd<'_>) -> Result<(), CopyError> {
        if (self.bounds.is_stopped)() {
            return Err(CopyError::Stopped);
        }
        if space_is_short(on) {
            return Err(CopyError::DiskIsShort);
        }
        Ok(())
    }

    fn copy_entry(&mut self, at: BorrowedFd<'_>, name: &CStr, stat: &Stat) -> Result<(), CopyError> {
        self.entries += 1;
        if self.entries > self.bounds.entries {
            return Err(CopyError::TooMany(self.bounds.entries));
        }
        let last = self.folders.pop().ok_or(Errno::BADF)?;
        let copied = match &last.made {
            Some(to) => self.copy_to(to.as_fd(), at, name, stat),
            None => Err(Errno::BADF.into()),
        };
        self.folders.push(last);
        copied
    }

    fn copy_to(
        &mut self,
        to: BorrowedFd<'_>,
        at: BorrowedFd<'_>,
        name: &CStr,
        stat: &Stat,
    ) -> Result<(), CopyError> {
        if self.entries % LOOK_EVERY == 1 {
            self.look_at_disk(to)?;
        }
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {
                let made = match copy_file(self, at, name, to) {
                    // Removed since it was listed.
                    Err(CopyError::System(Errno::NOENT)) => return Ok(()),
                    made => made?,
                };
                self.finish(made.as_fd(), stat)
            }
            FileType::Symlink => {
                let target = match readlinkat(at, name, Vec::new()) {
                    Err(Errno::NOENT | Errno::INVAL) => return Ok(()),
                    target => target?,
                };
                symlinkat(&target, to, name)?;
                if let Some((uid, gid)) = self.owner() {
                    chownat(to, name, Some(uid), Some(gid), AtFlags::SYMLINK_NOFOLLOW)?;
                }
                Ok(utimensat(to, name, &times(stat), AtFlags::SYMLINK_NOFOLLOW)?)
            }
            FileType::Directory => {
                self.next = Some(*stat);
                Ok(())
            }
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => Ok(()),
        }
    }

    fn owner(&self) -> Option<(Uid, Gid)> {
        self.owner.map(|owner| (Uid::from_raw(owner), Gid::from_raw(owner)))
    }

    /// Owner before mode, as a change of owner takes bits of the mode away; times last.
    fn finish(&self, made: BorrowedFd<'_>, stat: &Stat) -> Result<(), CopyError> {
        if let Some((uid, gid)) = self.owner() {
            fchown(made, Some(uid), Some(gid))?;
        }
        fchmod(made, Mode::from_raw_mode(stat.st_mode & 0o7777))?;
        Ok(futimens(made, &times(stat))?)
    }

    fn make_folder(&mut self, name: &CStr) -> Result<(), CopyError> {
        let stat = self.next.take().ok_or(Errno::BADF)?;
        let to = self.folders.last().and_then(|folder| folder.made.as_ref()).ok_or(Errno::BADF)?;
        // Closed to others, and open to whoever fills it, until it is full.
        mkdirat(to, name, Mode::from_raw_mode(0o700))?;
        let made = openat(to, name, FOLDER, Mode::empty())?;
        self.folders.push(Folder { made: Some(made), stat });
        if let Some(far) = self.folders.len().checked_sub(OPEN_AT_ONCE + 1) {
            self.folders[far].made = None;
        }
        Ok(())
    }

    /// The folder where the walk is has all that it will have.
    fn finish_folder(&mut self) -> Result<(), CopyError> {
        let Some(Folder { made: Some(made), stat }) = self.folders.pop() else {
            return Err(Errno::BADF.into());
        };
        if let Some(above) = self.folders.last_mut()
            && above.made.is_none()
        {
            // Nobody else moves anything in the copy. Before its mode is set, which may close the way up.
            above.made = Some(openat(&made, "..", FOLDER, Mode::empty())?);
        }
        self.finish(made.as_fd(), &stat)
    }
}

impl Visitor for Copying<'_> {
    type Folder = ();

    fn entry(&mut self, at: BorrowedFd<'_>, (): (), name: &CStr, stat: &Stat) {
        if self.failed.is_none() {
            self.failed = self.copy_entry(at, name, stat).err();
        }
    }

    fn enter(&mut self, (): (), name: &CStr) {
        if self.failed.is_none() {
            self.failed = self.make_folder(name).err();
        }
    }

    fn leave(&mut self) {
        if self.failed.is_none() {
            self.failed = self.finish_folder().err();
        }
    }

    fn passed_over(&mut self, error: Errno) {
        // What vanished meanwhile need not be there.
        if error != Errno::NOENT && self.failed.is_none() {
            self.failed = Some(error.into());
        }
    }

    fn enough(&self) -> bool {
        self.failed.is_some()
    }
}

fn times(stat: &Stat) -> Timestamps {
    let time = |seconds: i64, nanos: u64| Timespec {
        tv_sec: seconds,
        tv_nsec: i64::try_from(nanos).unwrap_or_default(),
    };
    Timestamps {
        last_access: time(stat.st_atime, stat.st_atime_nsec),
        last_modification: time(stat.st_mtime, stat.st_mtime_nsec),
    }
}

#[cfg(test)]
#[path = "copy_tests.rs"]
mod tests;
