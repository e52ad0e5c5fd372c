//! Going through a tree that hostile code made and goes on changing: by descriptors, so that depth costs no
//! path; with few of them open, so that depth costs no descriptors; and with no list of names.

use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, Stat, chmod, fstat, openat2, statat};
use rustix::io::Errno;

/// Folders on the way down that stay open. Those further up are opened again on the way back.
const OPEN_AT_ONCE: usize = 32;

/// What is done on the way.
pub(super) trait Visitor {
    /// What is remembered of a folder while the walk is below it.
    type Folder: Copy;
    /// Everything but `.` and `..`; links as they are. `at` is the folder it is in.
    fn entry(&mut self, at: BorrowedFd<'_>, folder: Self::Folder, name: &CStr, stat: &Stat);
    /// A folder that the walk goes into now.
    fn enter(&mut self, above: Self::Folder, name: &CStr) -> Self::Folder;
    /// The folder entered last has been seen in full.
    fn leave(&mut self) {}
    /// Something is there that could not be looked at, or it vanished meanwhile.
    fn passed_over(&mut self, _: Errno) {}
    /// Whether nothing more needs to be seen.
    fn enough(&self) -> bool;
}

/// A folder that the walk was in is somewhere else now, and the way back is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moved;

/// Visits everything below the folder `top` of `root`. What vanishes meanwhile is passed over.
pub(super) fn walk<V: Visitor>(
    root: BorrowedFd<'_>,
    top: &str,
    folder: V::Folder,
    visitor: &mut V,
) -> Result<(), Moved> {
    let stream = match open(root, top).and_then(Dir::new) {
        Ok(stream) => stream,
        Err(error) => {
            visitor.passed_over(error);
            return Ok(());
        }
    };
    let mut levels = vec![Level { folder, offset: 0, place: Place::Open(stream) }];
    while let Some(level) = levels.last_mut() {
        let Place::Open(stream) = &mut level.place else { return Err(Moved) };
        match next_entry(stream, visitor) {
            Some((entry, stat)) => {
                level.offset = entry.offset();
                let Ok(at) = stream.fd() else { return Err(Moved) };
                visitor.entry(at, level.folder, entry.file_name(), &stat);
                if visitor.enough() {
                    return Ok(());
                }
                if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
                    match open(at, entry.file_name()).and_then(Dir::new) {
                        Ok(below) => {
                            let folder = visitor.enter(level.folder, entry.file_name());
                            levels.push(Level { folder, offset: 0, place: Place::Open(below) });
                            if let Some(far) = levels.len().checked_sub(OPEN_AT_ONCE + 1) {
                                levels[far].close();
                            }
                        }
                        Err(error) => visitor.passed_over(error),
                    }
                }
            }
            None => {
                let done = levels.pop();
                if let (Some(above), Some(done)) = (levels.last_mut(), done) {
                    above.reopen_from(&done)?;
                    visitor.leave();
                }
            }
        }
    }
    Ok(())
}

struct Level<F> {
    folder: F,
    /// Behind the last entry that was read.
    offset: i64,
    place: Place,
}

enum Place {
    Open(Dir),
    /// Device and inode, to know it again by.
    Closed(u64, u64),
    Lost,
}

impl<F> Level<F> {
    fn close(&mut self) {
        if let Place::Open(stream) = &self.place {
            let known = stream.fd().and_then(fstat).map(|stat| Place::Closed(stat.st_dev, stat.st_ino));
            self.place = known.unwrap_or(Place::Lost);
        }
    }

    /// Opens it as what is above the level that is done. That may have been moved, so it is looked at whether
    /// this is the folder it was: otherwise the walk would go on elsewhere, even outside.
    fn reopen_from(&mut self, done: &Self) -> Result<(), Moved> {
        let Place::Closed(device, inode) = self.place else { return Ok(()) };
        let Place::Open(below) = &done.place else { return Err(Moved) };
        let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
        let above = below.fd().and_then(|fd| openat2(fd, "..", FOLDER, Mode::empty(), resolve));
        let above = above.map_err(|_| Moved)?;
        let stat = fstat(&above).map_err(|_| Moved)?;
        if (stat.st_dev, stat.st_ino) != (device, inode) {
            return Err(Moved);
        }
        let mut stream = Dir::new(above).map_err(|_| Moved)?;
        stream.seek(self.offset).map_err(|_| Moved)?;
        self.place = Place::Open(stream);
        Ok(())
    }
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

fn open(folder: BorrowedFd<'_>, name: impl rustix::path::Arg) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    match openat2(folder, &*name.as_cow_c_str()?, FOLDER, Mode::empty(), resolve) {
        Err(Errno::ACCESS) => open_closed(folder, &name.as_cow_c_str()?, resolve),
        opened => opened,
    }
}

/// An engine of an ordinary user may not look into a folder whose rights code inside took away, but the folder
/// is its own: it gives its owner the right to look. Otherwise all that is below would not count.
fn open_closed(folder: BorrowedFd<'_>, name: &CStr, resolve: ResolveFlags) -> Result<OwnedFd, Errno> {
    let handle = openat2(folder, name, FOLDER | OFlags::PATH, Mode::empty(), resolve)?;
    let mode = Mode::from_raw_mode(fstat(&handle)?.st_mode);
    // A handle gives no way to change rights but by this name for it.
    chmod(format!("/proc/self/fd/{}", handle.as_raw_fd()), mode | Mode::RUSR | Mode::XUSR)?;
    openat2(folder, name, FOLDER, Mode::empty(), resolve)
}

/// The next entry that is still there. An error of the file system ends a folder as its end does.
fn next_entry(stream: &mut Dir, visitor: &mut impl Visitor) -> Option<(rustix::fs::DirEntry, Stat)> {
    loop {
        let entry = stream.read()?.map_err(|error| visitor.passed_over(error)).ok()?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let stat = stream.fd().and_then(|fd| statat(fd.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW));
        match stat {
            Ok(stat) => return Some((entry, stat)),
            Err(error) => visitor.passed_over(error),
        }
    }
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
