//! The working folder as it was when somebody last looked, and what is different now.

use std::collections::BTreeMap;

use sandgate_core::{FileChange, FileChangeKind, FileKind};

use crate::PlaceEntry;

/// More changes than this are counted, not listed; as in the embedded engine.
const MAX_CHANGES: usize = 1000;

/// What tells two states of one file apart, as far as providers tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) size: u64,
    pub(super) modified_ms: i64,
}

/// Files by their path; folders are not among them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Seen(BTreeMap<String, Mark>);

impl Seen {
    pub(super) fn of(entries: &[PlaceEntry]) -> Self {
        let files = entries.iter().filter(|entry| entry.kind != FileKind::Directory);
        Self(files.map(|entry| (entry.path.clone(), mark(entry))).collect())
    }

    /// Somebody outside made or changed it, which is no doing of code.
    pub(super) fn put(&mut self, entry: &PlaceEntry) {
        if entry.kind != FileKind::Directory {
            self.0.insert(entry.path.clone(), mark(entry));
        }
    }

    /// With all below it.
    pub(super) fn remove(&mut self, path: &str) {
        self.0.retain(|known, _| !is_at_or_below(known, path));
    }

    /// What is different in `now`; the flag says that there is more than is listed.
    pub(super) fn changes(&self, now: &Self) -> (Vec<FileChange>, bool) {
        let appeared = now.0.iter().filter_map(|(path, mark)| {
            let kind = match self.0.get(path) {
                None => FileChangeKind::Created,
                Some(before) if before != mark => FileChangeKind::Modified,
                Some(_) => return None,
            };
            Some(FileChange { path: path.clone(), kind, size: mark.size })
        });
        let gone = self.0.keys().filter(|path| !now.0.contains_key(*path));
        let gone = gone.map(|path| FileChange { path: path.clone(), kind: FileChangeKind::Removed, size: 0 });
        let mut all: Vec<_> = appeared.chain(gone).take(MAX_CHANGES + 1).collect();
        let more = all.len() > MAX_CHANGES;
        all.truncate(MAX_CHANGES);
        (all, more)
    }
}

fn mark(entry: &PlaceEntry) -> Mark {
    Mark { size: entry.size, modified_ms: entry.modified_ms }
}

pub(super) fn is_at_or_below(path: &str, folder: &str) -> bool {
    path == folder || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/') || folder == "/")
}

#[cfg(test)]
#[path = "changes_tests.rs"]
mod tests;
