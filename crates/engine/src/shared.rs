//! What all sandboxes of an engine share.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use sandgate_core::{BackendError, Result, SandboxId};
use sandgate_jail::Layers;
use sandgate_jail::cgroup::Cgroups;
use tokio_util::task::TaskTracker;

use crate::helper::Helper;
pub(crate) use crate::idle_disks::watch_disks;
use crate::ids::IdClaim;
use crate::network::Network;
use crate::sandbox::EngineSandbox;
use crate::volume::Volumes;
use crate::zygotes::Zygotes;

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) helper: Helper,
    pub(crate) zygotes: Zygotes,
    /// None: limits are per process, as the operator accepted.
    pub(crate) cgroups: Option<Arc<Cgroups>>,
    pub(crate) volumes: Volumes,
    /// None: no sandbox reaches anything.
    pub(crate) network: Option<Network>,
    pub(crate) layers: Layers,
    /// The folder of all runtimes.
    pub(crate) runtimes: PathBuf,
    pub(crate) python_version: String,
    /// Everything under way, so that an end can wait for it.
    pub(crate) tasks: TaskTracker,
    /// Held for the engine's life.
    pub(crate) _ids: IdClaim,
    pub(crate) sandboxes: Mutex<HashMap<SandboxId, Arc<EngineSandbox>>>,
}

impl Shared {
    pub(crate) fn live(&self, id: &SandboxId) -> Result<Arc<EngineSandbox>> {
        let sandboxes = self.sandboxes.lock().unwrap_or_else(PoisonError::into_inner);
        sandboxes.get(id).cloned().ok_or_else(|| BackendError::NoSuchSandbox(id.clone()))
    }

    pub(crate) fn remember(&self, sandbox: &Arc<EngineSandbox>) {
        let mut sandboxes = self.sandboxes.lock().unwrap_or_else(PoisonError::into_inner);
        sandboxes.insert(sandbox.volume.id.clone(), Arc::clone(sandbox));
    }

    pub(crate) fn forget(&self, id: &SandboxId) -> Option<Arc<EngineSandbox>> {
        self.sandboxes.lock().unwrap_or_else(PoisonError::into_inner).remove(id)
    }
}

/// Runs what blocks where it may.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(|error| BackendError::Engine(error.to_string()))
}
