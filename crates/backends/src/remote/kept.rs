//! The gate's own copy of a sandbox's working folder, from which a new sandbox gets its files when the provider
//! no longer has the old one. Paths come from outside and never become file names here: contents are numbered,
//! and an index says what they are. Changes are on disk after [`Kept::save`], many with one: what they replace is
//! there until then.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use sandgate_core::{BackendError, Result};
use serde::{Deserialize, Serialize};
use tokio::fs;
use tokio::io::AsyncRead;
use tokio::sync::Mutex;

use super::changes::{Mark, is_at_or_below};
use super::draft::{Draft, Room};
use super::durable::{sync_names, write_whole};

#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) bytes: u64,
    pub(super) entries: u64,
}

#[derive(Debug)]
pub(super) struct Kept {
    folder: PathBuf,
    bounds: Bounds,
    room: Arc<Room>,
    pub(super) index: Mutex<Index>,
    /// Held while a sandbox is made or found again for these files, and while they are changed without one.
    pub(super) waking: Mutex<()>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Index {
    next: u64,
    pub(super) entries: BTreeMap<String, KeptEntry>,
    /// What the sandbox has, where files were changed here without it (`apart.rs`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) as_there: Option<BTreeMap<String, KeptEntry>>,
    /// Files that are not here as they are there: they did not fit, or could not be fetched.
    #[serde(default)]
    left_out: BTreeSet<String>,
    /// The last look before the sandbox ended failed: there may have been more.
    #[serde(default)]
    is_stale: bool,
    #[serde(skip)]
    pub(super) is_changed: bool,
    /// There are contents that the index on disk does not name yet.
    #[serde(skip)]
    has_new: bool,
    /// Contents that the index on disk may still name.
    #[serde(skip)]
    outdated: Vec<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum KeptEntry {
    Folder { modified_ms: i64 },
    File { content: u64, size: u64, mode: u32, modified_ms: i64 },
}

impl KeptEntry {
    pub(super) fn size(&self) -> u64 {
        match self {
            Self::Folder { .. } => 0,
            Self::File { size, .. } => *size,
        }
    }
}

impl Kept {
    /// Of a sandbox that nobody had before.
    pub(super) fn new(folder: PathBuf, bounds: Bounds) -> Self {
        let room = Arc::new(Room::new(bounds.bytes, 0));
        Self { folder, bounds, room, index: Mutex::default(), waking: Mutex::default() }
    }

    pub(super) async fn open(folder: PathBuf, bounds: Bounds) -> Result<Self> {
        fs::create_dir_all(&folder).await.map_err(failed)?;
        let index = match fs::read(folder.join("files.json")).await {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| failed(error.into()))?,
            Err(error) if error.kind() == ErrorKind::NotFound => Index::default(),
            Err(error) => return Err(failed(error)),
        };
        let index: Index = index;
        remove_strays(&folder, &index).await.map_err(failed)?;
        let used = index.entries.values().map(KeptEntry::size).sum();
        let room = Arc::new(Room::new(bounds.bytes, used));
        Ok(Self { folder, bounds, room, index: Mutex::new(index), waking: Mutex::default() })
    }

    pub(super) fn content(&self, number: u64) -> PathBuf {
        self.folder.join(content_name(number))
    }

    /// All changes since the last time, whole or not at all.
    pub(super) async fn save(&self) -> Result<()> {
        let mut index = self.index.lock().await;
        if !index.is_changed {
            return Ok(());
        }
        let text = serde_json::to_vec(&*index).map_err(|error| failed(error.into()))?;
        if index.has_new {
            sync_names(&self.folder).await.map_err(failed)?;
        }
        write_whole(self.folder.join("files.json"), text).await.map_err(failed)?;
        // Where no content came or goes, losing the last index to a failure of power costs no file.
        if index.has_new || !index.outdated.is_empty() {
            sync_names(&self.folder).await.map_err(failed)?;
        }
        (index.is_changed, index.has_new) = (false, false);
        for content in std::mem::take(&mut index.outdated) {
            if let Err(error) = fs::remove_file(self.content(content)).await {
                tracing::warn!(%error, "a kept content could not be removed");
            }
        }
        Ok(())
    }

    /// Takes in a content, no more of it than there is room for beside what is here under other paths than `path`.
    pub(super) async fn draft(&self, path: &str, from: &mut (dyn AsyncRead + Send + Unpin)) -> Result<Draft> {
        let (number, replaced) = {
            let mut index = self.index.lock().await;
            index.next += 1;
            (index.next, index.entries.get(path).map_or(0, KeptEntry::size))
        };
        let draft = self.folder.join(format!("draft-{number}"));
        Draft::read(draft, Arc::clone(&self.room), replaced, path, from).await
    }

    /// Makes or replaces the file.
    pub(super) async fn put(&self, path: &str, draft: Draft, mode: u32, modified_ms: i64) -> Result<()> {
        let mut index = self.index.lock().await;
        if index.entries.len() as u64 >= self.bounds.entries && !index.entries.contains_key(path) {
            return Err(BackendError::NoSpace(path.to_owned()));
        }
        index.next += 1;
        let content = index.next;
        fs::rename(&draft.path, self.content(content)).await.map_err(failed)?;
        // Before the draft stops counting, so that nothing fits in between.
        self.room.kept.fetch_add(draft.size, Ordering::AcqRel);
        let entry = KeptEntry::File { content, size: draft.size, mode, modified_ms };
        let before = index.entries.insert(path.to_owned(), entry);
        index.left_out.remove(path);
        (index.is_changed, index.has_new) = (true, true);
        self.discard(&mut index, before);
        Ok(())
    }

    fn discard(&self, index: &mut Index, gone: impl IntoIterator<Item = KeptEntry>) {
        for entry in gone {
            if let KeptEntry::File { content, size, .. } = entry {
                self.room.kept.fetch_sub(size, Ordering::AcqRel);
                index.outdated.push(content);
            }
        }
    }

    pub(super) async fn make_folder(&self, path: &str, modified_ms: i64) -> Result<()> {
        let mut index = self.index.lock().await;
        if index.entries.len() as u64 >= self.bounds.entries {
            return Err(BackendError::NoSpace(path.to_owned()));
        }
        index.entries.entry(path.to_owned()).or_insert(KeptEntry::Folder { modified_ms });
        index.is_changed = true;
        Ok(())
    }

    /// The folders that there are; with `all`, there are no others.
    pub(super) async fn keep_folders<'a>(&self, folders: impl Iterator<Item = (&'a str, i64)>, all: bool) {
        let folders: BTreeMap<&str, i64> = folders.collect();
        let mut index = self.index.lock().await;
        let before = index.entries.len();
        let is_gone = |path: &str, entry: &KeptEntry| {
            matches!(entry, KeptEntry::Folder { .. }) && !folders.contains_key(path)
        };
        if all {
            index.entries.retain(|path, entry| !is_gone(path, entry));
        }
        let mut changed = index.entries.len() != before;
        for (path, modified_ms) in folders {
            let room = (index.entries.len() as u64) < self.bounds.entries;
            if room && !index.entries.contains_key(path) {
                index.entries.insert(path.to_owned(), KeptEntry::Folder { modified_ms });
                changed = true;
            }
        }
        index.is_changed |= changed;
    }

    /// Whether a file of this size would fit under this path.
    pub(super) async fn has_room(&self, path: &str, size: u64) -> bool {
        let replaced = self.index.lock().await.entries.get(path).map_or(0, KeptEntry::size);
        self.room.fits(size, replaced)
    }

    /// With all below it; false when there was nothing.
    pub(super) async fn forget(&self, path: &str) -> bool {
        let mut index = self.index.lock().await;
        let gone = index.take_below(path);
        let unknown = index.left_out.len();
        index.left_out.retain(|known| !is_at_or_below(known, path));
        let any = !gone.is_empty();
        index.is_changed |= any || index.left_out.len() != unknown;
        self.discard(&mut index, gone.into_values());
        any
    }

    /// The files of these names alone, many at once.
    pub(super) async fn forget_files<'a>(&self, paths: impl Iterator<Item = &'a String> + Send) {
        let mut index = self.index.lock().await;
        for path in paths {
            let entry = index.entries.remove(path);
            index.is_changed |= index.left_out.remove(path) || entry.is_some();
            self.discard(&mut index, entry);
        }
    }

    pub(super) async fn rename(&self, from: &str, to: &str) -> Result<()> {
        if is_at_or_below(to, from) {
            let reason = "a folder cannot be moved into itself".to_owned();
            return Err(BackendError::File { path: to.to_owned(), reason });
        }
        self.forget(to).await;
        let mut index = self.index.lock().await;
        for (path, entry) in index.take_below(from) {
            let rest = path.strip_prefix(from).unwrap_or_default();
            index.entries.insert(format!("{to}{rest}"), entry);
        }
        index.is_changed = true;
        Ok(())
    }

    /// It was too large to be kept.
    pub(super) async fn leave_out(&self, path: &str) {
        self.forget(path).await;
        self.not_as_there(path).await;
    }

    /// It could not be fetched. What was kept of it earlier stays.
    pub(super) async fn not_as_there(&self, path: &str) {
        let mut index = self.index.lock().await;
        index.is_changed |= index.left_out.insert(path.to_owned());
    }

    pub(super) async fn set_stale(&self) {
        let mut index = self.index.lock().await;
        (index.is_stale, index.is_changed) = (true, true);
    }

    /// Told once.
    pub(super) async fn take_stale(&self) -> bool {
        let mut index = self.index.lock().await;
        index.is_changed |= index.is_stale;
        std::mem::take(&mut index.is_stale)
    }

    pub(super) fn most_bytes(&self) -> u64 {
        self.bounds.bytes
    }

    pub(super) async fn left_out(&self) -> Vec<String> {
        self.index.lock().await.left_out.iter().cloned().collect()
    }

    /// Of the files, to see which of them are other ones at the provider now.
    pub(super) async fn marks(&self) -> BTreeMap<String, Mark> {
        let index = self.index.lock().await;
        let mark = |(path, entry): (&String, &KeptEntry)| match *entry {
            KeptEntry::File { size, modified_ms, .. } => Some((path.clone(), Mark { size, modified_ms })),
            KeptEntry::Folder { .. } => None,
        };
        index.entries.iter().filter_map(mark).collect()
    }

    pub(super) async fn all(&self) -> BTreeMap<String, KeptEntry> {
        self.index.lock().await.entries.clone()
    }

    pub(super) fn used_bytes(&self) -> u64 {
        self.room.kept()
    }

    /// A new sandbox has the file since then, as the provider tells.
    pub(super) async fn set_modified(&self, times: &BTreeMap<String, i64>) -> Result<()> {
        let mut index = self.index.lock().await;
        for (path, time) in times {
            if let Some(KeptEntry::File { modified_ms, .. }) = index.entries.get_mut(path) {
                *modified_ms = *time;
            }
        }
        index.is_changed = true;
        drop(index);
        self.save().await
    }
}

impl Index {
    fn take_below(&mut self, path: &str) -> BTreeMap<String, KeptEntry> {
        self.entries.extract_if(.., |known, _| is_at_or_below(known, path)).collect()
    }
}

fn content_name(number: u64) -> String {
    format!("content-{number}")
}

/// What a gate that died in the middle has left: contents that no index names.
async fn remove_strays(folder: &Path, index: &Index) -> Result<(), Error> {
    let content = |entry: &KeptEntry| match entry {
        KeptEntry::File { content, .. } => Some(content_name(*content)),
        KeptEntry::Folder { .. } => None,
    };
    let named: BTreeSet<String> = index.entries.values().filter_map(content).collect();
    let mut there = fs::read_dir(folder).await?;
    while let Some(entry) = there.next_entry().await? {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_ours = name.starts_with("content-") || name.starts_with("draft-");
        if is_ours && !named.contains(&name) {
            fs::remove_file(entry.path()).await?;
        }
    }
    Ok(())
}

pub(super) fn failed(error: Error) -> BackendError {
    BackendError::Engine(format!("the kept files of a remote sandbox: {error}"))
}

#[cfg(test)]
#[path = "kept_tests.rs"]
mod tests;
