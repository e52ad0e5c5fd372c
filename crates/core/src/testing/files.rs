//! A sandbox's files in memory.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::{BackendError, ByteRange, FileContent, FileKind, FileStat, Files, Result, SandboxPath};

#[derive(Debug)]
pub struct MemoryFiles {
    /// By path. Folders above a file need no entry.
    entries: Mutex<BTreeMap<String, Entry>>,
    max_bytes: u64,
    max_listed: usize,
}

#[derive(Clone, Debug)]
struct Entry {
    kind: FileKind,
    content: Bytes,
    modified_ms: i64,
}

impl MemoryFiles {
    #[must_use]
    pub fn new(max_bytes: u64, max_listed: usize) -> Self {
        Self { entries: Mutex::default(), max_bytes, max_listed }
    }

    /// The same files once more, to go their own way.
    #[must_use]
    pub(super) fn copied(&self, max_bytes: u64) -> Self {
        let entries = Mutex::new(self.lock().clone());
        Self { entries, max_bytes, max_listed: self.max_listed }
    }

    /// As code inside would do it.
    pub fn set(&self, path: &str, content: impl Into<Bytes>) {
        self.insert(path, FileKind::File, content.into());
    }

    /// Something that is not a plain file.
    pub fn set_kind(&self, path: &str, kind: FileKind) {
        self.insert(path, kind, Bytes::new());
    }

    /// None: there is no such file.
    #[must_use]
    pub fn content(&self, path: &str) -> Option<Bytes> {
        self.lock().get(path).map(|entry| entry.content.clone())
    }

    #[must_use]
    pub fn paths(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    fn insert(&self, path: &str, kind: FileKind, content: Bytes) {
        self.lock().insert(path.to_owned(), Entry { kind, content, modified_ms: now_ms() });
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, path: &SandboxPath) -> Result<Entry> {
        let found = self.lock().get(path.as_str()).cloned();
        found.ok_or_else(|| BackendError::NoSuchFile(path.to_string()))
    }
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn stat_of(path: &str, entry: &Entry) -> FileStat {
    FileStat {
        path: path.to_owned(),
        kind: entry.kind,
        size: entry.content.len() as u64,
        mode: 0o644,
        modified_ms: entry.modified_ms,
        link_target: None,
    }
}

fn refused(path: &SandboxPath, reason: &str) -> BackendError {
    BackendError::File { path: path.to_string(), reason: reason.to_owned() }
}

#[async_trait]
impl Files for MemoryFiles {
    async fn open(&self, path: &SandboxPath, range: Option<ByteRange>) -> Result<FileContent> {
        let entry = self.find(path)?;
        let ByteRange { start, length } = range.unwrap_or(ByteRange { start: 0, length: None });
        if entry.kind != FileKind::File || start > entry.content.len() as u64 {
            return Err(refused(path, "that cannot be read"));
        }
        let stat = stat_of(path.as_str(), &entry);
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        let reader = Cursor::new(entry.content.slice(start..)).take(length.unwrap_or(u64::MAX));
        Ok(FileContent { stat, reader: Box::new(reader) })
    }

    async fn write(
        &self,
        path: &SandboxPath,
        content: &mut (dyn AsyncRead + Send + Unpin),
    ) -> Result<FileStat> {
        let mut whole = Vec::new();
        let read = content.take(self.max_bytes.saturating_add(1)).read_to_end(&mut whole).await;
        read.map_err(|error| refused(path, &error.to_string()))?;
        if whole.len() as u64 > self.max_bytes {
            return Err(BackendError::FileTooLarge { limit: self.max_bytes });
        }
        self.set(path.as_str(), whole);
        self.stat(path).await
    }

    async fn list(&self, path: &SandboxPath, depth: u32) -> Result<Vec<FileStat>> {
        let above = format!("{path}/");
        let within = |name: &String| {
            let below = name.strip_prefix(&above)?;
            (below.matches('/').count() < usize::try_from(depth).unwrap_or(usize::MAX)).then_some(())
        };
        let entries = self.lock();
        let found: Vec<_> = entries.iter().filter(|(name, _)| within(name).is_some()).collect();
        if found.len() > self.max_listed {
            return Err(refused(path, "there is more than can be listed"));
        }
        Ok(found.into_iter().map(|(name, entry)| stat_of(name, entry)).collect())
    }

    async fn stat(&self, path: &SandboxPath) -> Result<FileStat> {
        Ok(stat_of(path.as_str(), &self.find(path)?))
    }

    async fn make_dir(&self, path: &SandboxPath) -> Result<FileStat> {
        self.set_kind(path.as_str(), FileKind::Directory);
        self.stat(path).await
    }

    async fn rename(&self, from: &SandboxPath, to: &SandboxPath) -> Result<FileStat> {
        let entry = self.find(from)?;
        let mut entries = self.lock();
        entries.remove(from.as_str());
        let stat = stat_of(to.as_str(), &entry);
        entries.insert(to.to_string(), entry);
        Ok(stat)
    }

    async fn remove(&self, path: &SandboxPath) -> Result<()> {
        self.find(path)?;
        let below = format!("{path}/");
        self.lock().retain(|name, _| name != path.as_str() && !name.starts_with(&below));
        Ok(())
    }
}
