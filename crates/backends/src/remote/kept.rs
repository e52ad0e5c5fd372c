//! The gate's own copy of a sandbox's working folder, from which a new sandbox gets its files when the provider
//! no longer has the old one. Paths come from outside and never become file names here: contents are numbered,
//! and an index says what they are.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Error, ErrorKind, SeekFrom};
use std::path::{Path, PathBuf};

use sandgate_core::{BackendError, ByteRange, FileContent, FileKind, FileStat, Result, SandboxPath};
use serde::{Deserialize, Serialize};
use tokio::fs;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
use tokio::sync::Mutex;

use super::changes::{Mark, is_at_or_below};

/// Folders get this where nobody said otherwise.
const FOLDER_MODE: u32 = 0o755;

#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) bytes: u64,
    pub(super) entries: u64,
}

#[derive(Debug)]
pub(super) struct Kept {
    folder: PathBuf,
    bounds: Bounds,
    index: Mutex<Index>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Index {
    next: u64,
    entries: BTreeMap<String, KeptEntry>,
    /// Files that are not here because they did not fit.
    #[serde(default)]
    left_out: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum KeptEntry {
    Folder { modified_ms: i64 },
    File { content: u64, size: u64, mode: u32, modified_ms: i64 },
}

impl KeptEntry {
    fn size(&self) -> u64 {
        match self {
            Self::Folder { .. } => 0,
            Self::File { size, .. } => *size,
        }
    }

    fn stat(&self, path: &str) -> FileStat {
        let (kind, size, mode, modified_ms) = match *self {
            Self::Folder { modified_ms } => (FileKind::Directory, 0, FOLDER_MODE, modified_ms),
            Self::File { size, mode, modified_ms, .. } => (FileKind::File, size, mode, modified_ms),
        };
        FileStat { path: path.to_owned(), kind, size, mode, modified_ms, link_target: None }
    }
}

/// A content that is here and belongs to nothing yet; dropped, it is gone.
#[derive(Debug)]
pub(super) struct Draft {
    path: PathBuf,
    pub(super) size: u64,
}

impl Draft {
    pub(super) async fn open(&self) -> Result<fs::File> {
        fs::File::open(&self.path).await.map_err(failed)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // Already renamed when it was put in its place.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Kept {
    pub(super) async fn open(folder: PathBuf, bounds: Bounds) -> Result<Self> {
        fs::create_dir_all(&folder).await.map_err(failed)?;
        let index = match fs::read(folder.join("files.json")).await {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| failed(error.into()))?,
            Err(error) if error.kind() == ErrorKind::NotFound => Index::default(),
            Err(error) => return Err(failed(error)),
        };
        Ok(Self { folder, bounds, index: Mutex::new(index) })
    }

    fn content(&self, number: u64) -> PathBuf {
        self.folder.join(format!("content-{number}"))
    }

    async fn save(&self, index: &Index) -> Result<()> {
        let text = serde_json::to_vec(index).map_err(|error| failed(error.into()))?;
        write_whole(&self.folder.join("files.json"), &text).await.map_err(failed)
    }

    /// Takes in a content, no more of it than there is room for beside what is here under other paths than `path`.
    pub(super) async fn draft(&self, path: &str, from: &mut (dyn AsyncRead + Send + Unpin)) -> Result<Draft> {
        let (number, room) = {
            let mut index = self.index.lock().await;
            index.next += 1;
            let others = index.entries.iter().filter(|(known, _)| known.as_str() != path);
            let used: u64 = others.map(|(_, entry)| entry.size()).sum();
            (index.next, self.bounds.bytes.saturating_sub(used))
        };
        let mut draft = Draft { path: self.folder.join(format!("draft-{number}")), size: 0 };
        let mut file = fs::File::create(&draft.path).await.map_err(failed)?;
        draft.size = tokio::io::copy(&mut from.take(room.saturating_add(1)), &mut file)
            .await
            .map_err(|error| BackendError::File { path: path.to_owned(), reason: error.to_string() })?;
        file.flush().await.map_err(failed)?;
        if draft.size > room {
            return Err(BackendError::FileTooLarge { limit: room });
        }
        Ok(draft)
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
        let entry = KeptEntry::File { content, size: draft.size, mode, modified_ms };
        let before = index.entries.insert(path.to_owned(), entry);
        index.left_out.remove(path);
        self.save(&index).await?;
        self.discard(before).await;
        Ok(())
    }

    async fn discard(&self, entry: Option<KeptEntry>) {
        if let Some(KeptEntry::File { content, .. }) = entry
            && let Err(error) = fs::remove_file(self.content(content)).await
        {
            tracing::warn!(%error, "a kept content could not be removed");
        }
    }

    pub(super) async fn make_folder(&self, path: &str, modified_ms: i64) -> Result<()> {
        let mut index = self.index.lock().await;
        if index.entries.len() as u64 >= self.bounds.entries {
            return Err(BackendError::NoSpace(path.to_owned()));
        }
        index.entries.entry(path.to_owned()).or_insert(KeptEntry::Folder { modified_ms });
        self.save(&index).await
    }

    /// The folders that there are; with `all`, there are no others.
    pub(super) async fn keep_folders<'a>(
        &self,
        folders: impl Iterator<Item = (&'a str, i64)>,
        all: bool,
    ) -> Result<()> {
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
        if changed { self.save(&index).await } else { Ok(()) }
    }

    /// Whether a file of this size would fit under this path.
    pub(super) async fn has_room(&self, path: &str, size: u64) -> bool {
        let index = self.index.lock().await;
        let others = index.entries.iter().filter(|(known, _)| known.as_str() != path);
        let used: u64 = others.map(|(_, entry)| entry.size()).sum();
        used.saturating_add(size) <= self.bounds.bytes
    }

    /// With all below it.
    pub(super) async fn forget(&self, path: &str) -> Result<bool> {
        let mut index = self.index.lock().await;
        let gone: Vec<_> = index.entries.extract_if(.., |known, _| is_at_or_below(known, path)).collect();
        index.left_out.retain(|known| !is_at_or_below(known, path));
        if gone.is_empty() {
            return Ok(false);
        }
        self.save(&index).await?;
        for (_, entry) in gone {
            self.discard(Some(entry)).await;
        }
        Ok(true)
    }

    pub(super) async fn rename(&self, from: &str, to: &str) -> Result<()> {
        if is_at_or_below(to, from) {
            let reason = "a folder cannot be moved into itself".to_owned();
            return Err(BackendError::File { path: to.to_owned(), reason });
        }
        self.forget(to).await?;
        let mut index = self.index.lock().await;
        let moved: Vec<_> = index.entries.extract_if(.., |known, _| is_at_or_below(known, from)).collect();
        for (path, entry) in moved {
            let rest = path.strip_prefix(from).unwrap_or_default();
            index.entries.insert(format!("{to}{rest}"), entry);
        }
        self.save(&index).await
    }

    /// It was too large to be kept.
    pub(super) async fn leave_out(&self, path: &str) -> Result<()> {
        self.forget(path).await?;
        let mut index = self.index.lock().await;
        index.left_out.insert(path.to_owned());
        self.save(&index).await
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

    pub(super) async fn used_bytes(&self) -> u64 {
        self.index.lock().await.entries.values().map(KeptEntry::size).sum()
    }

    /// A new sandbox has the file since then, as the provider tells.
    pub(super) async fn set_modified(&self, times: &BTreeMap<String, i64>) -> Result<()> {
        let mut index = self.index.lock().await;
        for (path, time) in times {
            if let Some(KeptEntry::File { modified_ms, .. }) = index.entries.get_mut(path) {
                *modified_ms = *time;
            }
        }
        self.save(&index).await
    }

    pub(super) async fn read_whole(&self, path: &str) -> Result<(fs::File, u64)> {
        let index = self.index.lock().await;
        match index.entries.get(path) {
            Some(KeptEntry::File { content, size, .. }) => {
                Ok((fs::File::open(self.content(*content)).await.map_err(failed)?, *size))
            }
            _ => Err(BackendError::NoSuchFile(path.to_owned())),
        }
    }

    pub(super) async fn read(&self, path: &SandboxPath, range: Option<ByteRange>) -> Result<FileContent> {
        let stat = self.stat(path.as_str()).await?;
        if stat.kind == FileKind::Directory {
            return Err(BackendError::IsFolder(path.to_string()));
        }
        let (mut file, _) = self.read_whole(path.as_str()).await?;
        let ByteRange { start, length } = range.unwrap_or(ByteRange { start: 0, length: None });
        file.seek(SeekFrom::Start(start)).await.map_err(failed)?;
        Ok(FileContent { stat, reader: Box::new(file.take(length.unwrap_or(u64::MAX))) })
    }

    /// Folders are there when something is in them, or when they were made.
    pub(super) async fn stat(&self, path: &str) -> Result<FileStat> {
        let index = self.index.lock().await;
        if let Some(entry) = index.entries.get(path) {
            return Ok(entry.stat(path));
        }
        let is_folder =
            path == SandboxPath::WORKING_DIR || index.entries.keys().any(|known| is_at_or_below(known, path));
        if is_folder {
            return Ok(KeptEntry::Folder { modified_ms: 0 }.stat(path));
        }
        Err(BackendError::NoSuchFile(path.to_owned()))
    }

    pub(super) async fn list(&self, path: &str, depth: u32) -> Result<Vec<FileStat>> {
        if self.stat(path).await?.kind != FileKind::Directory {
            return Err(BackendError::NotAFolder(path.to_owned()));
        }
        let index = self.index.lock().await;
        let top = path.trim_end_matches('/');
        let mut found = BTreeMap::new();
        for (known, entry) in &index.entries {
            let Some(rest) = known.strip_prefix(top).and_then(|rest| rest.strip_prefix('/')) else {
                continue;
            };
            let parts: Vec<&str> = rest.split('/').collect();
            for level in 1..=parts.len().min(depth as usize) {
                let at = format!("{top}/{}", parts[..level].join("/"));
                let stat = if level == parts.len() {
                    entry.stat(&at)
                } else {
                    KeptEntry::Folder { modified_ms: 0 }.stat(&at)
                };
                // One that was made tells more than one that only must be there.
                if level == parts.len() || !found.contains_key(&at) {
                    found.insert(at, stat);
                }
            }
        }
        Ok(found.into_values().collect())
    }

    /// A copy of all of it somewhere else.
    pub(super) async fn copy_to(&self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder).await.map_err(failed)?;
        let index = self.index.lock().await;
        for entry in index.entries.values() {
            if let KeptEntry::File { content, .. } = entry {
                let name = format!("content-{content}");
                fs::copy(self.content(*content), folder.join(name)).await.map_err(failed)?;
            }
        }
        let text = serde_json::to_vec(&*index).map_err(|error| failed(error.into()))?;
        write_whole(&folder.join("files.json"), &text).await.map_err(failed)
    }
}

/// Whole or not at all, whenever the power fails.
pub(super) async fn write_whole(path: &Path, text: &[u8]) -> Result<(), Error> {
    let aside = path.with_extension("new");
    let mut file = fs::File::create(&aside).await?;
    file.write_all(text).await?;
    file.sync_data().await?;
    fs::rename(&aside, path).await
}

pub(super) fn failed(error: Error) -> BackendError {
    BackendError::Engine(format!("the kept files of a remote sandbox: {error}"))
}

#[cfg(test)]
#[path = "kept_tests.rs"]
mod tests;
