//! A walk over a volume: how much it holds, and what changed since the last walk.

use std::collections::hash_map::RandomState;
use std::ffi::CStr;
use std::hash::BuildHasher;
use std::os::fd::BorrowedFd;
use std::sync::LazyLock;

use rustix::fs::{FileType, Stat};
use sandgate_core::{FileChange, FileChangeKind};

pub(crate) use super::held::held_open;
use super::names::{Folder, Name, Names};
use super::tree::{Moved, Visitor, walk};

/// The working directory, whose changes are reported.
const DATA: &str = "mnt/data";
const HOME: &str = "home/user";
/// What is being removed, or could not be removed because code inside went on filling it.
pub(super) const TRASH: &str = ".trash";
/// More changes than this are counted, not listed.
const MAX_CHANGES: usize = 1000;
/// How often a tree whose folders are moved about is begun anew.
const MAX_TRIES: usize = 3;

/// What tells two states of one file apart. The change time cannot be set by code inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    inode: u64,
    changed: (i64, u32),
    size: u64,
}

/// Files are known by a number made of their path, under a key that nobody outside this process has: paths
/// may be as long as they like, and there are as many as code inside has made.
static PATHS: LazyLock<RandomState> = LazyLock::new(RandomState::new);

#[derive(Clone, Copy, Debug)]
struct File {
    path: u64,
    mark: Mark,
    name: Option<Name>,
}

/// A volume at one moment.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    /// In the order of their numbers.
    files: Vec<File>,
    names: Names,
    pub(crate) usage: DiskUsage,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DiskUsage {
    pub(crate) bytes: u64,
    pub(crate) entries: u64,
}

impl DiskUsage {
    /// Nobody needs a tree whose folders are never where they were, and it could not be counted.
    const UNCOUNTABLE: Self = Self { bytes: 0, entries: u64::MAX };

    fn add(&mut self, stat: &Stat) {
        self.entries += 1;
        self.bytes += u64::try_from(stat.st_blocks).unwrap_or(0) * 512;
    }
}

/// Walks the volume below `root`. Stops early once there are more than `max_entries`.
pub(crate) fn snapshot(root: BorrowedFd<'_>, max_entries: u64) -> Snapshot {
    for _ in 0..MAX_TRIES {
        let mut taking = Taking { snapshot: Snapshot::default(), max_entries };
        let top = Place { path: 0, named: Some(taking.snapshot.names.top(DATA)) };
        let walked = walk(root, DATA, top, &mut taking).and_then(|()| {
            let mut others = Counting { usage: taking.snapshot.usage, max_entries };
            others.count(root, &[HOME, TRASH])?;
            Ok(others.usage)
        });
        if let Ok(usage) = walked {
            let mut whole = taking.snapshot;
            whole.usage = usage;
            whole.files.sort_unstable_by_key(|file| file.path);
            whole.files.shrink_to_fit();
            return whole;
        }
    }
    Snapshot { usage: DiskUsage::UNCOUNTABLE, ..Snapshot::default() }
}

/// The same without a memory of what is there.
pub(crate) fn usage(root: BorrowedFd<'_>, max_entries: u64) -> DiskUsage {
    for _ in 0..MAX_TRIES {
        let mut counting = Counting { usage: DiskUsage::default(), max_entries };
        if counting.count(root, &[DATA, HOME, TRASH]).is_ok() {
            return counting.usage;
        }
    }
    DiskUsage::UNCOUNTABLE
}

struct Counting {
    usage: DiskUsage,
    max_entries: u64,
}

impl Counting {
    fn count(&mut self, root: BorrowedFd<'_>, tops: &[&str]) -> Result<(), Moved> {
        for top in tops {
            if !self.enough() {
                walk(root, top, (), self)?;
            }
        }
        Ok(())
    }
}

impl Visitor for Counting {
    type Folder = ();

    fn entry(&mut self, _: BorrowedFd<'_>, (): (), _: &CStr, stat: &Stat) {
        self.usage.add(stat);
    }

    fn enter(&mut self, (): (), _: &CStr) {}

    fn enough(&self) -> bool {
        self.usage.entries > self.max_entries
    }
}

struct Taking {
    snapshot: Snapshot,
    max_entries: u64,
}

/// A folder on the way.
#[derive(Clone, Copy)]
struct Place {
    path: u64,
    named: Option<Folder>,
}

impl Visitor for Taking {
    type Folder = Place;

    fn entry(&mut self, _: BorrowedFd<'_>, folder: Place, name: &CStr, stat: &Stat) {
        self.snapshot.usage.add(stat);
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            return;
        }
        let changed = (stat.st_ctime, u32::try_from(stat.st_ctime_nsec).unwrap_or(0));
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        let mark = Mark { inode: stat.st_ino, changed, size };
        let path = PATHS.hash_one((folder.path, name));
        let name = folder.named.and_then(|above| self.snapshot.names.add(above, name));
        self.snapshot.files.push(File { path, mark, name });
    }

    fn enter(&mut self, above: Place, name: &CStr) -> Place {
        let named = above.named.and_then(|folder| self.snapshot.names.add_folder(folder, name));
        Place { path: PATHS.hash_one((above.path, name)), named }
    }

    fn enough(&self) -> bool {
        self.snapshot.usage.entries > self.max_entries
    }
}

impl Snapshot {
    fn find(&self, path: u64) -> Option<&File> {
        let at = self.files.binary_search_by_key(&path, |file| file.path).ok()?;
        self.files.get(at)
    }

    /// What is different now; the flag says that there is more than is listed.
    pub(crate) fn changes(&self, now: &Self) -> (Vec<FileChange>, bool) {
        let appeared = now.files.iter().filter_map(|file| match self.find(file.path) {
            None => Some((now, file, FileChangeKind::Created, file.mark.size)),
            Some(before) if before.mark != file.mark => {
                Some((now, file, FileChangeKind::Modified, file.mark.size))
            }
            Some(_) => None,
        });
        let gone = self.files.iter().filter(|file| now.find(file.path).is_none());
        let gone = gone.map(|file| (self, file, FileChangeKind::Removed, 0));
        let (mut all, mut more) = (Vec::new(), false);
        for (of, file, kind, size) in appeared.chain(gone) {
            let path = file.name.and_then(|name| of.names.path(name));
            match path {
                Some(path) if all.len() < MAX_CHANGES => all.push(FileChange { path, kind, size }),
                _ => more = true,
            }
            if more && all.len() >= MAX_CHANGES {
                break;
            }
        }
        all.sort_by(|a, b| {
            (a.kind == FileChangeKind::Removed, &a.path).cmp(&(b.kind == FileChangeKind::Removed, &b.path))
        });
        (all, more)
    }
}

#[cfg(test)]
#[path = "walk_tests.rs"]
mod tests;
