//! The files of a remote sandbox that does not run: those that the gate kept.

use std::sync::Arc;

use async_trait::async_trait;
use sandgate_core::{BackendError, ByteRange, FileContent, FileStat, Files, Result, SandboxPath, now_ms};
use tokio::io::AsyncRead;

use super::changes::is_at_or_below;
use super::draft::Draft;
use super::kept::Kept;

const FILE_MODE: u32 = 0o644;

#[derive(Debug)]
pub(super) struct KeptFiles {
    pub(super) kept: Arc<Kept>,
    /// There may be a sandbox at the provider that does not hear of what is changed here.
    pub(super) apart: bool,
}

/// Only the working folder is kept.
pub(super) fn is_kept(path: &SandboxPath) -> bool {
    is_at_or_below(path.as_str(), SandboxPath::WORKING_DIR)
}

fn now() -> i64 {
    i64::try_from(now_ms()).unwrap_or(i64::MAX)
}

impl KeptFiles {
    /// A content that is here already.
    pub(super) async fn put(&self, path: &SandboxPath, draft: Draft) -> Result<FileStat> {
        Self::check(path)?;
        self.part().await;
        self.kept.put(path.as_str(), draft, FILE_MODE, now()).await?;
        self.kept.save().await?;
        self.kept.stat(path.as_str()).await
    }

    async fn part(&self) {
        if self.apart {
            self.kept.part().await;
        }
    }

    pub(super) fn check(path: &SandboxPath) -> Result<()> {
        if is_kept(path) {
            return Ok(());
        }
        let reason = format!("only {} is there while the sandbox does not run", SandboxPath::WORKING_DIR);
        Err(BackendError::File { path: path.to_string(), reason })
    }
}

#[async_trait]
impl Files for KeptFiles {
    async fn open(&self, path: &SandboxPath, range: Option<ByteRange>) -> Result<FileContent> {
        self.kept.read(path, range).await
    }

    async fn write(
        &self,
        path: &SandboxPath,
        content: &mut (dyn AsyncRead + Send + Unpin),
    ) -> Result<FileStat> {
        Self::check(path)?;
        let draft = self.kept.draft(path.as_str(), content).await?;
        self.put(path, draft).await
    }

    async fn list(&self, path: &SandboxPath, depth: u32) -> Result<Vec<FileStat>> {
        self.kept.list(path.as_str(), depth).await
    }

    async fn stat(&self, path: &SandboxPath) -> Result<FileStat> {
        self.kept.stat(path.as_str()).await
    }

    async fn make_dir(&self, path: &SandboxPath) -> Result<FileStat> {
        Self::check(path)?;
        self.part().await;
        self.kept.make_folder(path.as_str(), now()).await?;
        self.kept.save().await?;
        self.kept.stat(path.as_str()).await
    }

    async fn rename(&self, from: &SandboxPath, to: &SandboxPath) -> Result<FileStat> {
        Self::check(to)?;
        self.kept.stat(from.as_str()).await?;
        self.part().await;
        self.kept.rename(from.as_str(), to.as_str()).await?;
        self.kept.save().await?;
        self.kept.stat(to.as_str()).await
    }

    async fn remove(&self, path: &SandboxPath) -> Result<()> {
        Self::check(path)?;
        self.part().await;
        match self.kept.forget(path.as_str()).await {
            true => self.kept.save().await,
            false => Err(BackendError::NoSuchFile(path.to_string())),
        }
    }
}
