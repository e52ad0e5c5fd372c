//! A sandbox at Daytona.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::AsyncRead;

use super::control::Control;
use super::wire::{Sandbox, minutes};
use crate::http::Address;
use crate::under_way::UnderWay;
use crate::{
    Content, ContextWish, Furnished, Gathered, Place, PlaceEntry, PlaceId, ProviderError, ProviderResult,
    Run, Running,
};

#[derive(Debug)]
pub(super) struct DaytonaPlace {
    pub(super) control: Arc<Control>,
    pub(super) id: PlaceId,
    pub(super) toolbox: Address,
    pub(super) runs: UnderWay,
}

impl DaytonaPlace {
    pub(super) async fn new(control: Arc<Control>, sandbox: &Sandbox) -> ProviderResult<Self> {
        let id = sandbox.id()?;
        let toolbox = control.toolbox(&id, sandbox).await?;
        Ok(Self { control, id, toolbox, runs: UnderWay::default() })
    }
}

#[async_trait]
impl Place for DaytonaPlace {
    fn id(&self) -> &PlaceId {
        &self.id
    }

    async fn furnish(&self, folder: &str) -> ProviderResult<Furnished> {
        self.make_working_folder(folder).await?;
        Ok(Furnished::Later)
    }

    async fn extend(&self, life: Duration) -> ProviderResult<()> {
        self.control.live_for(&self.id, minutes(life)).await
    }

    async fn create_context(&self, wish: &ContextWish) -> ProviderResult<String> {
        self.new_context(wish).await
    }

    async fn delete_context(&self, id: &str) -> ProviderResult<()> {
        self.end_context(id).await
    }

    async fn execute(&self, run: Run) -> ProviderResult<Running> {
        self.start(run).await
    }

    /// There is no way to stop code but to end its context, with what it knew.
    async fn interrupt(&self, context: Option<&str>) -> ProviderResult<()> {
        let Some(id) = context else {
            return Err(ProviderError::Unsupported("stopping code in the default context"));
        };
        if self.runs.stop(context) {
            self.end_context(id).await?;
        }
        Ok(())
    }

    async fn read(&self, path: &str) -> ProviderResult<Content> {
        self.download(path).await
    }

    async fn write(
        &self,
        path: &str,
        content: Box<dyn AsyncRead + Send + Unpin>,
        size: u64,
    ) -> ProviderResult<()> {
        self.upload(path, content, size).await
    }

    async fn list(&self, path: &str, depth: u32, most: usize) -> ProviderResult<Gathered> {
        self.list_dir(path, depth, most).await
    }

    async fn stat(&self, path: &str) -> ProviderResult<PlaceEntry> {
        self.info(path).await
    }

    async fn remove(&self, path: &str) -> ProviderResult<()> {
        self.remove_path(path).await
    }

    async fn make_dir(&self, path: &str) -> ProviderResult<()> {
        self.make_folder(path).await
    }

    async fn rename(&self, from: &str, to: &str) -> ProviderResult<()> {
        self.move_path(from, to).await
    }
}
