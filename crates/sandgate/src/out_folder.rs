//! A folder of the user that files of a sandbox are put into. Code chose their names, so: no link is followed,
//! nothing outside is reached, and nothing that was there before is changed.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, mkdirat, openat2, unlinkat};
use rustix::io::Errno;

/// Names tried for one file when the ones before are taken.
const MAX_NUMBER: u32 = 10_000;

#[derive(Debug)]
pub(crate) struct OutFolder {
    path: PathBuf,
    folder: OwnedFd,
}

/// A file that was made here.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    /// Below the folder.
    name: PathBuf,
    /// To know it again by.
    identity: (u64, u64),
}

impl OutFolder {
    /// Makes the folder where it is missing. The user named it, so links on the way to it are fine.
    pub(crate) fn open(path: PathBuf) -> io::Result<Self> {
        std::fs::create_dir_all(&path)?;
        // Nothing means where the user is, and is not said again in front of each name.
        let named = if path.as_os_str().is_empty() { Path::new(".") } else { &path };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(named, flags, Mode::empty())?;
        Ok(Self { path, folder })
    }

    pub(crate) fn path(&self, made: &Made) -> PathBuf {
        self.path.join(&made.name)
    }

    /// A new file at this place below the folder, with all folders on the way; `a-2.txt` where `a.txt` is taken.
    pub(crate) fn create(&self, below: &Path) -> io::Result<(File, Made)> {
        for number in 1..=MAX_NUMBER {
            if let Some(made) = self.create_exactly(&numbered(below, number))? {
                return Ok(made);
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// The same; None where the name is taken.
    pub(crate) fn create_exactly(&self, below: &Path) -> io::Result<Option<(File, Made)>> {
        let last = below.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let file = match open(self.parent(below)?, Path::new(last), flags) {
            Err(Errno::EXIST) => return Ok(None),
            opened => File::from(opened?),
        };
        let metadata = file.metadata()?;
        Ok(Some((file, Made { name: below.to_owned(), identity: (metadata.dev(), metadata.ino()) })))
    }

    /// The same file again, emptied. None when something else is there now, or nothing.
    pub(crate) fn reopen(&self, made: &Made) -> io::Result<Option<File>> {
        let Ok(opened) = open(&self.folder, &made.name, OFlags::WRONLY | OFlags::NONBLOCK) else {
            return Ok(None);
        };
        let file = File::from(opened);
        let metadata = file.metadata()?;
        if (metadata.dev(), metadata.ino()) != made.identity {
            return Ok(None);
        }
        file.set_len(0)?;
        Ok(Some(file))
    }

    pub(crate) fn remove(&self, made: &Made) {
        if let (Ok(parent), Some(last)) = (self.parent(&made.name), made.name.file_name()) {
            // It may be gone already.
            let _ = unlinkat(&parent, last, AtFlags::empty());
        }
    }

    fn parent(&self, below: &Path) -> io::Result<OwnedFd> {
        let mut at = self.folder.try_clone()?;
        for part in below.parent().into_iter().flat_map(Path::components) {
            let part = Path::new(part.as_os_str());
            match mkdirat(&at, part, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            at = open(&at, part, OFlags::DIRECTORY)?;
        }
        Ok(at)
    }
}

fn open(folder: impl AsFd, name: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let mode = if flags.contains(OFlags::CREATE) { Mode::from_raw_mode(0o666) } else { Mode::empty() };
    openat2(folder, name, flags | OFlags::CLOEXEC, mode, resolve)
}

/// Whether a link or a file stands where a folder should be.
pub(crate) fn is_in_the_way(error: &io::Error) -> bool {
    let way = [Errno::LOOP, Errno::NOTDIR, Errno::XDEV, Errno::EXIST];
    error.raw_os_error().is_some_and(|code| way.iter().any(|one| one.raw_os_error() == code))
}

fn numbered(name: &Path, number: u32) -> PathBuf {
    if number == 1 {
        return name.to_owned();
    }
    let mut last = name.file_stem().unwrap_or_default().to_owned();
    last.push(format!("-{number}"));
    if let Some(ending) = name.extension() {
        last.push(".");
        last.push(ending);
    }
    name.with_file_name(last)
}

#[cfg(test)]
#[path = "out_folder_tests.rs"]
mod tests;
