//! The files of a sandbox of which nobody had any use yet since the gate began, or since it was put to sleep. Who
//! holds them while it wakes up has those of the living one from then on.

use std::sync::Arc;

use async_trait::async_trait;
use sandgate_core::{ByteRange, FileContent, FileStat, Files, Result, Sandbox, SandboxId, SandboxPath};
use tokio::io::AsyncRead;

use super::kept::Kept;
use super::kept_files::KeptFiles;
use super::shared::Shared;

#[derive(Debug)]
pub(super) struct AsleepFiles {
    pub(super) shared: Arc<Shared>,
    pub(super) id: SandboxId,
    pub(super) kept: Arc<Kept>,
}

impl AsleepFiles {
    fn live(&self) -> Option<Arc<dyn Files>> {
        let live = self.shared.known().get(&self.id).and_then(|known| known.live.clone());
        live.map(|live| live.files())
    }

    /// For who only reads.
    fn now(&self) -> Arc<dyn Files> {
        let kept = || Arc::new(KeptFiles { kept: Arc::clone(&self.kept), apart: false });
        self.live().unwrap_or_else(|| kept())
    }

    /// For who changes them, while nobody wakes it.
    async fn asleep(&self) -> Result<KeptFiles> {
        let record = self.shared.records.load(&self.id).await?;
        let apart = record.is_some_and(|record| record.place.is_some());
        Ok(KeptFiles { kept: Arc::clone(&self.kept), apart })
    }
}

#[async_trait]
impl Files for AsleepFiles {
    async fn open(&self, path: &SandboxPath, range: Option<ByteRange>) -> Result<FileContent> {
        self.now().open(path, range).await
    }

    async fn write(
        &self,
        path: &SandboxPath,
        content: &mut (dyn AsyncRead + Send + Unpin),
    ) -> Result<FileStat> {
        if let Some(live) = self.live() {
            return live.write(path, content).await;
        }
        KeptFiles::check(path)?;
        // However long it takes to come: who wakes the sandbox does not wait for it.
        let draft = self.kept.draft(path.as_str(), content).await?;
        let alone = self.kept.waking.lock().await;
        let Some(live) = self.live() else { return self.asleep().await?.put(path, draft).await };
        drop(alone);
        let mut file = draft.open().await?;
        // It is read to its end all the same, and is not counted twice.
        drop(draft);
        live.write(path, &mut file).await
    }

    async fn list(&self, path: &SandboxPath, depth: u32) -> Result<Vec<FileStat>> {
        self.now().list(path, depth).await
    }

    async fn stat(&self, path: &SandboxPath) -> Result<FileStat> {
        self.now().stat(path).await
    }

    async fn make_dir(&self, path: &SandboxPath) -> Result<FileStat> {
        let alone = self.kept.waking.lock().await;
        let Some(live) = self.live() else { return self.asleep().await?.make_dir(path).await };
        drop(alone);
        live.make_dir(path).await
    }

    async fn rename(&self, from: &SandboxPath, to: &SandboxPath) -> Result<FileStat> {
        let alone = self.kept.waking.lock().await;
        let Some(live) = self.live() else { return self.asleep().await?.rename(from, to).await };
        drop(alone);
        live.rename(from, to).await
    }

    async fn remove(&self, path: &SandboxPath) -> Result<()> {
        let alone = self.kept.waking.lock().await;
        let Some(live) = self.live() else { return self.asleep().await?.remove(path).await };
        drop(alone);
        live.remove(path).await
    }
}
