//! Looking into what the gate keeps of a sandbox.

use std::collections::BTreeMap;
use std::io::SeekFrom;
use std::path::Path;

use sandgate_core::{BackendError, ByteRange, FileContent, FileKind, FileStat, Result, SandboxPath};
use tokio::fs;
use tokio::io::{AsyncReadExt, AsyncSeekExt};

use super::changes::is_at_or_below;
use super::durable::{sync_content, sync_names, write_whole};
use super::kept::{Index, Kept, KeptEntry, failed};

/// Folders get this where nobody said otherwise.
const FOLDER_MODE: u32 = 0o755;

impl KeptEntry {
    fn stat(&self, path: &str) -> FileStat {
        let (kind, size, mode, modified_ms) = match *self {
            Self::Folder { modified_ms } => (FileKind::Directory, 0, FOLDER_MODE, modified_ms),
            Self::File { size, mode, modified_ms, .. } => (FileKind::File, size, mode, modified_ms),
        };
        FileStat { path: path.to_owned(), kind, size, mode, modified_ms, link_target: None }
    }
}

impl Kept {
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
                let to = folder.join(name);
                fs::copy(self.content(*content), &to).await.map_err(failed)?;
                let copied = fs::File::open(&to).await.map_err(failed)?;
                sync_content(&copied, &to).await.map_err(failed)?;
            }
        }
        // Of the copy there is no sandbox yet.
        let mut copy: Index = index.clone();
        copy.as_there = None;
        sync_names(folder).await.map_err(failed)?;
        let text = serde_json::to_vec(&copy).map_err(|error| failed(error.into()))?;
        write_whole(folder.join("files.json"), text).await.map_err(failed)
    }
}
