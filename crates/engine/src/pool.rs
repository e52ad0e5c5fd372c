//! Sandboxes made ahead, forked, confined, limited and warmed, so that a new one is only handed over.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use sandgate_core::{Result, SandboxSpec};
use tokio::sync::Notify;

use crate::sandbox::EngineSandbox;
use crate::shared::{Shared, blocking};

#[derive(Debug)]
pub(crate) struct Pool {
    target: usize,
    spec: SandboxSpec,
    ready: Mutex<VecDeque<EngineSandbox>>,
    wanted: Notify,
}

impl Pool {
    pub(crate) fn new(target: usize) -> Arc<Self> {
        Arc::new(Self { target, spec: SandboxSpec::default(), ready: Mutex::default(), wanted: Notify::new() })
    }

    /// A ready one, if it can become what `spec` asks for: some limits are fixed when a kernel is forked.
    pub(crate) fn claim(&self, spec: &SandboxSpec) -> Option<EngineSandbox> {
        let (asked, made) = (&spec.limits, &self.spec.limits);
        let fixed = |limits: &sandgate_core::Limits| (limits.tmp_bytes, limits.open_files, limits.disk_bytes, limits.processes);
        if fixed(asked) != fixed(made) {
            return None;
        }
        let claimed = self.lock().pop_front();
        self.wanted.notify_one();
        claimed
    }

    /// How many are ready now.
    pub(crate) fn ready(&self) -> usize {
        self.lock().len()
    }

    /// Keeps the pool full until the engine ends.
    pub(crate) async fn keep_full(self: Arc<Self>, shared: Arc<Shared>) {
        loop {
            while self.ready() < self.target && !shared.tasks.is_closed() {
                match make_warm(&shared, self.spec.clone()).await {
                    Ok(sandbox) => self.lock().push_back(sandbox),
                    Err(error) => {
                        tracing::warn!(%error, "a sandbox for the pool could not be made");
                        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
                    }
                }
            }
            if shared.tasks.is_closed() {
                return;
            }
            self.wanted.notified().await;
        }
    }

    /// Wakes [`Self::keep_full`] so that it sees the engine's end.
    pub(crate) fn wake(&self) {
        self.wanted.notify_one();
    }

    /// Takes out all that is ready.
    pub(crate) fn drain(&self) -> Vec<EngineSandbox> {
        self.lock().drain(..).collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<EngineSandbox>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A new sandbox over an empty volume, with nothing running in it yet.
pub(crate) async fn make_cold(shared: &Arc<Shared>, spec: SandboxSpec) -> Result<EngineSandbox> {
    let engine = Arc::clone(shared);
    blocking(move || {
        let volume = engine.volumes.make().map_err(|error| sandgate_core::BackendError::Engine(error.to_string()))?;
        EngineSandbox::make(engine, volume, spec, /* revived */ false)
    })
    .await?
}

async fn make_warm(shared: &Arc<Shared>, spec: SandboxSpec) -> Result<EngineSandbox> {
    let sandbox = make_cold(shared, spec).await?;
    sandbox.warm_up().await?;
    Ok(sandbox)
}
