//! A backend of which somebody is told how long each start of a sandbox took.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;

use crate::{
    Backend, BackendReport, BackendStats, Files, NetworkBy, Result, Sandbox, SandboxId, SandboxSpec,
};

/// Told of each start: `create` or `wake`, whether it went well, and its time.
type Told = Box<dyn Fn(&'static str, bool, Duration) + Send + Sync>;

pub struct WatchedBackend {
    backend: Arc<dyn Backend>,
    told: Told,
}

impl WatchedBackend {
    #[must_use]
    pub fn new(
        backend: Arc<dyn Backend>,
        told: impl Fn(&'static str, bool, Duration) + Send + Sync + 'static,
    ) -> Self {
        Self { backend, told: Box::new(told) }
    }

    async fn watch(
        &self,
        how: &'static str,
        start: impl Future<Output = Result<Arc<dyn Sandbox>>>,
    ) -> Result<Arc<dyn Sandbox>> {
        let began = Instant::now();
        let started = start.await;
        (self.told)(how, started.is_ok(), began.elapsed());
        started
    }
}

#[async_trait]
impl Backend for WatchedBackend {
    fn name(&self) -> &'static str {
        self.backend.name()
    }

    fn is_healthy(&self) -> bool {
        self.backend.is_healthy()
    }

    fn stats(&self) -> BackendStats {
        self.backend.stats()
    }

    fn reports(&self) -> Vec<BackendReport> {
        self.backend.reports()
    }

    fn network(&self, backend: Option<&str>) -> NetworkBy {
        self.backend.network(backend)
    }

    fn decides_memory(&self, backend: Option<&str>) -> bool {
        self.backend.decides_memory(backend)
    }

    async fn create(&self, spec: SandboxSpec) -> Result<Arc<dyn Sandbox>> {
        self.watch("create", self.backend.create(spec)).await
    }

    async fn revive(&self, id: &SandboxId, spec: SandboxSpec) -> Result<Arc<dyn Sandbox>> {
        self.watch("wake", self.backend.revive(id, spec)).await
    }

    async fn copy(&self, from: &SandboxId, spec: &SandboxSpec) -> Result<SandboxId> {
        self.backend.copy(from, spec).await
    }

    async fn delete(&self, id: &SandboxId) -> Result<()> {
        self.backend.delete(id).await
    }

    async fn files(&self, id: &SandboxId, spec: &SandboxSpec) -> Result<Arc<dyn Files>> {
        self.backend.files(id, spec).await
    }

    async fn shut_down(&self) {
        self.backend.shut_down().await;
    }
}

impl fmt::Debug for WatchedBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WatchedBackend").field(&self.backend).finish()
    }
}
