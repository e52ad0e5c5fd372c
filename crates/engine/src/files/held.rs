//! What a volume takes of the disk without being seen in its folders: files that were removed and are still open
//! or mapped; and whether the disk as a whole has room for more.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata};
use std::io::{BufRead, BufReader};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::fs::fstat;
use sandgate_core::space_is_short;

use super::walk::{DiskUsage, usage};

/// Text about mappings that is read in one look at a sandbox: far more than honest processes have. Code that
/// makes more is seen in part, another part each time.
const MAX_MAPS_TEXT: u64 = 16 << 20;
/// While the disk is short of space, a sandbox may grow by so much before it is stopped.
const SLACK: DiskUsage = DiskUsage { bytes: 1 << 20, entries: 100 };
/// More than any limit. What must not write any more counts as that much.
const MORE_THAN_ALLOWED: u64 = u64::MAX / 2;

/// The root of a volume, and what is known of the disk it is on.
#[derive(Debug)]
pub(crate) struct VolumeRoot {
    root: OwnedFd,
    /// Whose files these are, where that is nobody else's.
    owner: Option<u32>,
    max_entries: u64,
    /// Whether the disk is short of space; tests say so themselves.
    short: fn(BorrowedFd<'_>) -> bool,
    /// What the volume held when the disk was first seen to be short of space; None while it is not.
    when_short: Mutex<Option<DiskUsage>>,
}

impl AsFd for VolumeRoot {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }
}

impl VolumeRoot {
    pub(super) fn new(root: OwnedFd, owner: Option<u32>, max_entries: u64) -> Self {
        Self { root, owner, max_entries, short: space_is_short, when_short: Mutex::default() }
    }

    pub(super) fn disk_is_short(&self) -> bool {
        (self.short)(self.as_fd())
    }

    #[cfg(test)]
    pub(super) fn pretend_short(&mut self, short: bool) {
        self.short = if short { |_| true } else { |_| false };
    }

    /// Whether the disk is short of space and this volume goes on growing. Others are left alone.
    fn grows_while_short(&self, removed: u64) -> bool {
        let short = self.disk_is_short();
        let mut when_short = self.when_short.lock().unwrap_or_else(PoisonError::into_inner);
        if !short {
            *when_short = None;
            return false;
        }
        let mut now = usage(self.as_fd(), self.max_entries);
        now.bytes = now.bytes.saturating_add(removed);
        let before = when_short.get_or_insert(now);
        now.bytes > before.bytes.saturating_add(SLACK.bytes)
            || now.entries > before.entries.saturating_add(SLACK.entries)
    }
}

/// Bytes that a volume must answer for besides those in its folders: files of its file system that the processes
/// hold although they were removed. What is in a message on its way between two sockets is not seen. More than
/// any limit when the whole disk is short of space and the volume goes on growing.
pub(crate) fn held_open(root: &VolumeRoot, processes: &[i32]) -> u64 {
    let mut removed = Removed::on_the_disk_of(root);
    let mut text_left = MAX_MAPS_TEXT;
    // Without control groups nobody has a list.
    let found = if processes.is_empty() { root.owner.map(processes_of) } else { None };
    for process in from_another_start(found.as_deref().unwrap_or(processes)) {
        for entry in fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten() {
            removed.count(fs::metadata(entry.path()));
        }
        text_left = removed.count_mapped(process, text_left);
    }
    let bytes = removed.bytes();
    if root.grows_while_short(bytes) { MORE_THAN_ALLOWED } else { bytes }
}

/// All processes of a user, by what the kernel says of them: the owner of their folders there may be another.
fn processes_of(user: u32) -> Vec<i32> {
    let is_theirs = |process: &i32| {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let ids = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap_or_default();
        ids.split_ascii_whitespace().any(|id| id.parse() == Ok(user))
    };
    let names = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.filter_map(|name| name.to_str()?.parse().ok()).filter(is_theirs).collect()
}

/// Each time with another process first, so that none can stay behind others for ever.
fn from_another_start(processes: &[i32]) -> impl Iterator<Item = i32> {
    static TURN: AtomicUsize = AtomicUsize::new(0);
    let first = TURN.fetch_add(1, Ordering::Relaxed) % processes.len().max(1);
    let (before, after) = processes.split_at(first);
    after.iter().chain(before).copied()
}

/// Files that were removed, each once.
struct Removed {
    device: Option<u64>,
    bytes_by_inode: BTreeMap<u64, u64>,
}

impl Removed {
    fn on_the_disk_of(root: &VolumeRoot) -> Self {
        Self { device: fstat(root).ok().map(|stat| stat.st_dev), bytes_by_inode: BTreeMap::new() }
    }

    fn count(&mut self, file: std::io::Result<Metadata>) {
        if let Ok(file) = file
            && file.nlink() == 0
            && Some(file.dev()) == self.device
            && file.is_file()
        {
            self.bytes_by_inode.insert(file.ino(), file.blocks() * 512);
        }
    }

    /// Reads at most so much about the process's mappings; gives what is left of that.
    fn count_mapped(&mut self, process: i32, text_left: u64) -> u64 {
        let Ok(maps) = File::open(format!("/proc/{process}/maps")) else { return text_left };
        let mut maps = BufReader::new(std::io::Read::take(maps, text_left));
        let (mut line, mut looked_at) = (Vec::new(), BTreeSet::new());
        while maps.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            if let Some((range, file)) = removed_mapping(&line)
                && looked_at.insert(file)
            {
                self.count(fs::metadata(format!("/proc/{process}/map_files/{range}")));
            }
            line.clear();
        }
        maps.into_inner().limit()
    }

    fn bytes(&self) -> u64 {
        self.bytes_by_inode.values().sum()
    }
}

/// The range of a line about a file that is no more, as the folder of mappings names it; and device and inode.
/// A file may be named as if it were removed: only what is looked at next decides.
fn removed_mapping(line: &[u8]) -> Option<(String, String)> {
    let line =
        std::str::from_utf8(line.strip_suffix(b" (deleted)\n")?.get(..73.min(line.len() - 11))?).ok()?;
    let mut parts = line.split_ascii_whitespace();
    let (start, end) = parts.next()?.split_once('-')?;
    let bare = |address: &str| address.trim_start_matches('0').to_owned();
    let (device, inode) = (parts.nth(2)?, parts.next()?);
    Some((format!("{}-{}", bare(start), bare(end)), format!("{device} {inode}")))
}

#[cfg(test)]
#[path = "held_tests.rs"]
mod tests;
