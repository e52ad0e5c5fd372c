//! The files API over one volume.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use sandgate_core::{BackendError, ByteRange, FileContent, FileStat, Files, Result, SandboxPath};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

use super::held::VolumeRoot;
use super::inside::Inside;
use super::open::refused;
use crate::shared::blocking;

/// How much of an upload is written between two looks at the disk.
const LOOK_EVERY: u64 = 8 << 20;

#[derive(Debug)]
pub(crate) struct VolumeFiles {
    inside: Arc<Inside>,
    /// Since somebody last asked.
    changed: AtomicBool,
}

impl VolumeFiles {
    pub(crate) fn open(
        root: &Path,
        owner: Option<u32>,
        max_bytes: u64,
        max_entries: u64,
    ) -> io::Result<Self> {
        let inside = Inside::open(root, owner, max_bytes, max_entries)?;
        Ok(Self { inside: Arc::new(inside), changed: AtomicBool::new(false) })
    }

    /// Whether files were changed from outside since this was last asked.
    pub(crate) fn take_changed(&self) -> bool {
        self.changed.swap(false, Ordering::AcqRel)
    }

    pub(crate) fn set_changed(&self) {
        self.changed.store(true, Ordering::Release);
    }

    /// For walks by others over the same root.
    pub(crate) fn root(&self) -> &VolumeRoot {
        &self.inside.root
    }

    /// Exactly these, of those that are the user's own.
    pub(crate) async fn set_attributes(
        &self,
        path: &SandboxPath,
        attributes: &BTreeMap<String, String>,
    ) -> Result<bool> {
        let (asked, attributes) = (path.clone(), attributes.clone());
        self.aside(move |inside| inside.set_attributes(&asked, &attributes)).await
    }

    #[cfg(test)]
    fn pretend_short(&mut self) {
        Arc::get_mut(&mut self.inside).unwrap().root.pretend_short(true);
    }

    /// Where it may take as long as code inside makes it take.
    async fn aside<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inside) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let inside = Arc::clone(&self.inside);
        blocking(move || work(&inside)).await?
    }
}

#[async_trait]
impl Files for VolumeFiles {
    async fn open(&self, path: &SandboxPath, range: Option<ByteRange>) -> Result<FileContent> {
        let asked = path.clone();
        let (file, stat) = self.aside(move |inside| inside.open_file(&asked)).await?;
        let mut file = tokio::fs::File::from_std(file);
        let range = range.unwrap_or(ByteRange { start: 0, length: None });
        if range.start > stat.size {
            return Err(refused(
                path,
                &format!("the range starts after the end of the file ({} bytes)", stat.size),
            ));
        }
        file.seek(io::SeekFrom::Start(range.start))
            .await
            .map_err(|error| refused(path, &error.to_string()))?;
        Ok(FileContent { stat, reader: Box::new(file.take(range.length.unwrap_or(u64::MAX))) })
    }

    async fn write(
        &self,
        path: &SandboxPath,
        content: &mut (dyn AsyncRead + Send + Unpin),
    ) -> Result<FileStat> {
        self.set_changed();
        let failed = |error: io::Error| refused(path, &error.to_string());
        let asked = path.clone();
        let (draft, file, limit) = self.aside(move |inside| inside.begin_upload(&asked)).await?;
        let mut file = tokio::fs::File::from_std(file);
        let mut written = 0;
        loop {
            let part = LOOK_EVERY.min(limit.saturating_add(1) - written);
            let got = tokio::io::copy(&mut (&mut *content).take(part), &mut file).await.map_err(failed)?;
            written += got;
            if written > limit {
                return Err(BackendError::FileTooLarge { limit });
            }
            if got < part {
                break;
            }
            let asked = path.clone();
            self.aside(move |inside| inside.check_space(&asked)).await?;
        }
        file.flush().await.map_err(failed)?;
        let asked = path.clone();
        self.aside(move |_| draft.finish(&asked)).await
    }

    async fn list(&self, path: &SandboxPath, depth: u32) -> Result<Vec<FileStat>> {
        let asked = path.clone();
        self.aside(move |inside| inside.list(&asked, depth)).await
    }

    async fn stat(&self, path: &SandboxPath) -> Result<FileStat> {
        let asked = path.clone();
        self.aside(move |inside| inside.stat(&asked)).await
    }

    async fn make_dir(&self, path: &SandboxPath) -> Result<FileStat> {
        self.set_changed();
        let asked = path.clone();
        self.aside(move |inside| inside.make_dir(&asked)).await
    }

    async fn rename(&self, from: &SandboxPath, to: &SandboxPath) -> Result<FileStat> {
        self.set_changed();
        let (from, to) = (from.clone(), to.clone());
        self.aside(move |inside| inside.rename(&from, &to)).await
    }

    async fn remove(&self, path: &SandboxPath) -> Result<()> {
        self.set_changed();
        let asked = path.clone();
        self.aside(move |inside| inside.remove(&asked)).await
    }
}

#[cfg(test)]
#[path = "volume_files_tests.rs"]
mod tests;
