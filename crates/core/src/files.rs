//! A sandbox's files as seen from outside: paths are the sandbox's own, and none can lead out of it.

use std::fmt;

use async_trait::async_trait;
use bytes::Bytes;
use serde::Serialize;
use tokio::io::AsyncRead;

use crate::{BackendError, Result};

/// An absolute, normal path inside a sandbox. What it names may still be a link; resolving it safely
/// is the backend's work.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SandboxPath(String);

impl SandboxPath {
    /// Where relative paths start and executions work.
    pub const WORKING_DIR: &'static str = "/mnt/data";
    const MAX_LENGTH: usize = 4000;

    /// Relative paths are below [`Self::WORKING_DIR`]; `.`, `..` and doubled slashes are folded,
    /// and a `..` at the top stays at the top, as in a real root.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = |reason: &str| BackendError::File {
            path: text.chars().take(200).collect(),
            reason: reason.to_owned(),
        };
        if text.is_empty() {
            return Err(bad("the path is empty"));
        }
        if text.contains('\0') {
            return Err(bad("a path cannot hold a NUL byte"));
        }
        if text.len() > Self::MAX_LENGTH {
            return Err(bad("the path is too long"));
        }
        let base = if text.starts_with('/') { "" } else { Self::WORKING_DIR };
        let mut parts: Vec<&str> = Vec::new();
        for part in base.split('/').chain(text.split('/')) {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop();
                }
                name if name.len() > 255 => return Err(bad("a name in the path is longer than 255 bytes")),
                name => parts.push(name),
            }
        }
        Ok(Self(format!("/{}", parts.join("/"))))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The folder above and the last name; None for the root.
    #[must_use]
    pub fn split(&self) -> Option<(Self, &str)> {
        let (parent, name) = self.0.rsplit_once('/')?;
        if name.is_empty() {
            return None;
        }
        let parent = if parent.is_empty() { "/" } else { parent };
        Some((Self(parent.to_owned()), name))
    }
}

impl fmt::Display for SandboxPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteRange {
    pub start: u64,
    /// None: to the end.
    pub length: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    File,
    Directory,
    Symlink,
    /// A pipe, socket or device: listed, never opened.
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileStat {
    pub path: String,
    pub kind: FileKind,
    pub size: u64,
    /// Permission bits.
    pub mode: u32,
    /// Milliseconds since 1970.
    pub modified_ms: i64,
    /// Where a link points, as written in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_target: Option<String>,
}

/// An open file: its stat and a reader over the asked range.
pub struct FileContent {
    pub stat: FileStat,
    pub reader: Box<dyn AsyncRead + Send + Unpin>,
}

impl fmt::Debug for FileContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileContent").field("stat", &self.stat).finish_non_exhaustive()
    }
}

#[async_trait]
pub trait Files: Send + Sync + fmt::Debug {
    async fn open(&self, path: &SandboxPath, range: Option<ByteRange>) -> Result<FileContent>;
    /// Replaces or makes the file in one step: a reader sees the old or the new, never half.
    /// Missing folders above it are made.
    async fn write(
        &self,
        path: &SandboxPath,
        content: &mut (dyn AsyncRead + Send + Unpin),
    ) -> Result<FileStat>;
    /// Everything down to `depth` levels below; 1 lists the folder itself.
    async fn list(&self, path: &SandboxPath, depth: u32) -> Result<Vec<FileStat>>;
    /// Of the thing itself: a link is not followed.
    async fn stat(&self, path: &SandboxPath) -> Result<FileStat>;
    async fn make_dir(&self, path: &SandboxPath) -> Result<FileStat>;
    async fn rename(&self, from: &SandboxPath, to: &SandboxPath) -> Result<FileStat>;
    /// A folder goes with all it holds; a link goes, not what it points to.
    async fn remove(&self, path: &SandboxPath) -> Result<()>;
}

impl dyn Files {
    /// The whole file in memory; for callers that know it is small.
    pub async fn read(&self, path: &SandboxPath, limit: u64) -> Result<Bytes> {
        use tokio::io::AsyncReadExt;
        let content = self.open(path, None).await?;
        if content.stat.size > limit {
            return Err(BackendError::FileTooLarge { limit });
        }
        let mut buffer = Vec::new();
        let read = content.reader.take(limit + 1).read_to_end(&mut buffer).await;
        read.map_err(|error| BackendError::File { path: path.to_string(), reason: error.to_string() })?;
        if buffer.len() as u64 > limit {
            return Err(BackendError::FileTooLarge { limit });
        }
        Ok(buffer.into())
    }
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
