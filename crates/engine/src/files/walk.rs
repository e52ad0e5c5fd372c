//! A walk over a volume: how much it holds, and what changed since the last walk.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr};
use std::fs;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, fstat, openat2, statat};
use rustix::io::Errno;
use sandgate_core::{FileChange, FileChangeKind};

/// The working directory, whose changes are reported.
const DATA: &str = "mnt/data";
const HOME: &str = "home/user";
/// More changes than this are counted, not listed.
const MAX_CHANGES: usize = 1000;

/// What tells two states of one file apart. The change time cannot be set by code inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    inode: u64,
    changed: (i64, i64),
    size: u64,
}

/// A volume at one moment.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    files: BTreeMap<Vec<u8>, Mark>,
    pub(crate) usage: DiskUsage,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DiskUsage {
    pub(crate) bytes: u64,
    pub(crate) entries: u64,
}

/// Walks the volume below `root`. Stops early once there are more than `max_entries`.
pub(crate) fn snapshot(root: BorrowedFd<'_>, max_entries: u64) -> Snapshot {
    let mut snapshot = Snapshot::default();
    for top in [DATA, HOME] {
        let keep = top == DATA;
        let mut folders: Vec<Vec<u8>> = vec![top.as_bytes().to_vec()];
        while let Some(folder) = folders.pop() {
            if snapshot.usage.entries > max_entries {
                return snapshot;
            }
            let opened = match open_folder(root, &folder) {
                Ok(opened) => opened,
                // Deeper than any path: nobody needs that, and what is below could not be counted.
                Err(Errno::NAMETOOLONG) => {
                    snapshot.usage.entries = u64::MAX;
                    return snapshot;
                }
                // Removed meanwhile, or not a plain folder any more.
                Err(_) => continue,
            };
            visit(&opened, &folder, keep, &mut snapshot, &mut folders);
        }
    }
    snapshot
}

fn open_folder(root: BorrowedFd<'_>, path: &[u8]) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let path = CString::new(path).map_err(|_| Errno::INVAL)?;
    openat2(root, path, flags, Mode::empty(), resolve)
}

fn visit(opened: &OwnedFd, folder: &[u8], keep: bool, snapshot: &mut Snapshot, folders: &mut Vec<Vec<u8>>) {
    let Ok(entries) = Dir::read_from(opened) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let Ok(stat) = statat(opened.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        snapshot.usage.entries += 1;
        snapshot.usage.bytes += u64::try_from(stat.st_blocks).unwrap_or(0) * 512;
        let path = [folder, b"/", name.to_bytes()].concat();
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            folders.push(path);
        } else if keep {
            let changed = (stat.st_ctime, stat.st_ctime_nsec as i64);
            let size = u64::try_from(stat.st_size).unwrap_or(0);
            snapshot.files.insert(path, Mark { inode: stat.st_ino, changed, size });
        }
    }
}

/// Bytes of files below `root`'s file system that the processes hold open although they were removed.
pub(crate) fn held_open(root: &OwnedFd, processes: &[i32]) -> u64 {
    let Ok(device) = fstat(root).map(|stat| stat.st_dev) else { return 0 };
    let mut counted = BTreeMap::new();
    for process in processes {
        for entry in fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten() {
            if let Ok(open) = fs::metadata(entry.path())
                && open.nlink() == 0
                && open.dev() == device
                && open.is_file()
            {
                counted.insert(open.ino(), open.blocks() * 512);
            }
        }
    }
    counted.values().sum()
}

impl Snapshot {
    /// What is different now; the flag says that there is more than is listed.
    pub(crate) fn changes(&self, now: &Self) -> (Vec<FileChange>, bool) {
        let change = |path: &[u8], kind, size| FileChange {
            path: format!("/{}", OsStr::from_bytes(path).to_string_lossy()),
            kind,
            size,
        };
        let appeared = now.files.iter().filter_map(|(path, mark)| match self.files.get(path) {
            None => Some(change(path, FileChangeKind::Created, mark.size)),
            Some(before) if before != mark => Some(change(path, FileChangeKind::Modified, mark.size)),
            Some(_) => None,
        });
        let gone = self.files.keys().filter(|path| !now.files.contains_key(*path));
        let gone = gone.map(|path| change(path, FileChangeKind::Removed, 0));
        let mut all: Vec<FileChange> = appeared.chain(gone).take(MAX_CHANGES + 1).collect();
        let more = all.len() > MAX_CHANGES;
        all.truncate(MAX_CHANGES);
        (all, more)
    }
}

#[cfg(test)]
#[path = "walk_tests.rs"]
mod tests;
