//! One container: its sandbox, which comes and goes, and its files, which stay.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;
use tokio::sync::Mutex as AsyncMutex;

use super::places::{Place, Places};
use crate::network::NetworkPolicy;
use crate::network_rules::check_use;
use crate::registry::now_seconds;
use crate::{
    Backend, BackendError, ContainerId, ContainerRecord, ExecuteRequest, Execution, Files, KeyLimits, Owner,
    Result, Sandbox, SandboxId, SandboxSpec, Share, Usage,
};

/// One container. Its sandbox comes and goes; its files stay until it is deleted.
#[derive(Debug)]
pub struct Container {
    pub(super) record: ContainerRecord,
    backend: Arc<dyn Backend>,
    places: Places,
    /// Held while the sandbox is started or ended, so that two callers never start it twice.
    pub(super) life: Arc<AsyncMutex<Life>>,
    used: Mutex<Used>,
    /// It counts as its owner's until it is deleted.
    pub(super) kept: Mutex<Option<Share>>,
    /// What it may reach, and how that was put, if it was changed since `record`.
    pub(super) network: Mutex<Option<(NetworkPolicy, Option<Value>)>>,
    /// Whether a door lent it, and keeps a record of its own of what it reaches.
    lent: AtomicBool,
    /// Held while its record is saved, so that an older one never comes after a newer.
    pub(super) saving: AsyncMutex<()>,
}

/// When a container was last used, by the clock that never jumps and by the one that is recorded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Used {
    at: Instant,
    pub(super) seconds: u64,
    /// What the registry has.
    recorded: u64,
}

#[derive(Debug)]
pub(super) struct Live {
    pub(super) sandbox: Arc<dyn Sandbox>,
    paused: bool,
    _place: Place,
}

impl Live {
    pub(super) fn new(sandbox: Arc<dyn Sandbox>, place: Place) -> Self {
        Self { sandbox, paused: false, _place: place }
    }
}

#[derive(Debug)]
pub(super) enum Life {
    Live(Live),
    /// Processes given back; the next use starts fresh ones over the same files.
    Asleep,
    Deleted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ContainerState {
    Running,
    Paused,
    Asleep,
}

#[derive(Clone, Debug, Serialize)]
pub struct ContainerInfo {
    pub id: ContainerId,
    pub name: Option<String>,
    pub state: ContainerState,
    pub created_at: u64,
    pub last_active_at: u64,
    pub idle_seconds: u64,
    pub memory_limit: Option<String>,
    /// As it was asked for, where it was in words that are said back.
    pub network_policy: Option<Value>,
    /// What its code may reach.
    #[serde(skip)]
    pub network: NetworkPolicy,
}

impl Container {
    pub(super) fn new(
        record: ContainerRecord,
        backend: Arc<dyn Backend>,
        places: Places,
        life: Life,
        kept: Option<Share>,
    ) -> Self {
        let seconds = record.last_active_at;
        let used = Mutex::new(Used { at: Instant::now(), seconds, recorded: seconds });
        Self {
            record,
            backend,
            places,
            life: Arc::new(AsyncMutex::new(life)),
            used,
            kept: Mutex::new(kept),
            network: Mutex::default(),
            lent: AtomicBool::new(false),
            saving: AsyncMutex::default(),
        }
    }

    /// The record with what was changed since.
    pub(super) fn current(&self) -> ContainerRecord {
        let mut record = self.record.clone();
        if let Some((policy, said)) = &*self.network.lock().unwrap_or_else(PoisonError::into_inner) {
            record.spec.network = policy.clone();
            record.network_policy.clone_from(said);
        }
        record.last_active_at = self.used().seconds;
        record
    }

    /// From now on it is lent, until it is deleted.
    pub(crate) fn lend(&self) {
        self.lent.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_lent(&self) -> bool {
        self.lent.load(Ordering::Relaxed)
    }

    /// What its code may reach.
    #[must_use]
    pub fn network(&self) -> NetworkPolicy {
        self.current().spec.network
    }

    #[must_use]
    pub fn id(&self) -> &ContainerId {
        &self.record.id
    }

    #[must_use]
    pub fn owner(&self) -> &Owner {
        &self.record.owner
    }

    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.record.name.as_deref()
    }

    /// The name of the backend that runs it.
    #[must_use]
    pub fn backend(&self) -> &str {
        &self.record.backend
    }

    #[must_use]
    pub fn spec(&self) -> &SandboxSpec {
        &self.record.spec
    }

    /// Whether what runs it is still there.
    #[must_use]
    pub fn has_healthy_backend(&self) -> bool {
        self.backend.is_healthy()
    }

    /// It idled for longer than it may. Using it wakes it with its files all the same.
    #[must_use]
    pub fn is_expired(&self) -> bool {
        let idle = Duration::from_secs(self.record.idle_seconds);
        let used = self.used();
        used.at.elapsed() > idle || now_seconds().saturating_sub(used.seconds) > idle.as_secs()
    }

    /// None once it is deleted.
    pub async fn info(&self) -> Option<ContainerInfo> {
        let state = match &*self.life.lock().await {
            Life::Live(live) if live.paused => ContainerState::Paused,
            Life::Live(_) => ContainerState::Running,
            Life::Asleep => ContainerState::Asleep,
            Life::Deleted => return None,
        };
        Some(ContainerInfo {
            id: self.record.id.clone(),
            name: self.record.name.clone(),
            state,
            created_at: self.record.created_at,
            last_active_at: self.used().seconds,
            idle_seconds: self.record.idle_seconds,
            memory_limit: self.record.memory_limit.clone(),
            network_policy: self.current().network_policy,
            network: self.network(),
        })
    }

    /// Runs code, waking the container when it sleeps.
    pub async fn execute(&self, request: ExecuteRequest) -> Result<Execution> {
        self.sandbox().await?.execute(request).await
    }

    /// The running sandbox, started again over the container's files when it sleeps or was lost.
    pub async fn sandbox(&self) -> Result<Arc<dyn Sandbox>> {
        self.sandbox_within(&KeyLimits::default()).await
    }

    /// The same for somebody whose key allows only so many sandboxes at once, and only so much of a network.
    pub async fn sandbox_within(&self, allowance: &KeyLimits) -> Result<Arc<dyn Sandbox>> {
        allowance.check_backend(self.backend())?;
        let reached = check_use(&self.network(), allowance.network.as_deref());
        reached.map_err(|refused| BackendError::Invalid(refused.to_string()))?;
        self.keep_alive();
        let mut life = Arc::clone(&self.life).lock_owned().await;
        match &*life {
            Life::Deleted => return Err(self.no_such()),
            Life::Live(live) if live.sandbox.is_alive() && live.paused => return Err(BackendError::Paused),
            Life::Live(live) if live.sandbox.is_alive() => return Ok(Arc::clone(&live.sandbox)),
            Life::Live(_) | Life::Asleep => {}
        }
        let (record, backend, places) = (self.current(), Arc::clone(&self.backend), self.places.clone());
        let most = allowance.sandboxes;
        // In a task of its own: a caller that leaves meanwhile must not leave a sandbox that nobody counts.
        let started = tokio::spawn(async move {
            if let Life::Live(live) = &*life {
                tracing::warn!(container = %record.id, "the sandbox of a container was lost; it gets a new one");
                live.sandbox.stop().await?;
                *life = Life::Asleep;
            }
            let place = places.take(&record.owner, most)?;
            let revived = backend.revive(&record.sandbox, record.spec.clone()).await;
            let sandbox = revived.map_err(|error| match error {
                BackendError::NoSuchSandbox(_) => BackendError::NoSuchContainer(record.id.clone()),
                other => other,
            })?;
            *life = Life::Live(Live::new(Arc::clone(&sandbox), place));
            Ok(sandbox)
        });
        started.await.map_err(|_| BackendError::Engine("starting a sandbox was abandoned".to_owned()))?
    }

    /// Nobody starts, ends or deletes it meanwhile.
    pub(super) async fn copy_files(&self, spec: SandboxSpec) -> Result<SandboxId> {
        let life = Arc::clone(&self.life).lock_owned().await;
        if matches!(*life, Life::Deleted) {
            return Err(self.no_such());
        }
        let (backend, from, id) = (Arc::clone(&self.backend), self.record.sandbox.clone(), self.id().clone());
        // In a task of its own: a caller that leaves meanwhile must not leave it to others half-way.
        let copied = tokio::spawn(async move {
            let _life = life;
            backend.copy(&from, &spec).await
        });
        let copied = copied.await.map_err(|_| BackendError::Engine("a copy was abandoned".to_owned()))?;
        copied.map_err(|error| match error {
            BackendError::NoSuchSandbox(_) => BackendError::NoSuchContainer(id),
            other => other,
        })
    }

    pub(super) fn no_such(&self) -> BackendError {
        BackendError::NoSuchContainer(self.record.id.clone())
    }

    /// Its files, whether it runs or not.
    pub async fn files(&self) -> Result<Arc<dyn Files>> {
        self.keep_alive();
        match &*self.life.lock().await {
            Life::Live(live) => Ok(live.sandbox.files()),
            Life::Asleep => self.backend.files(&self.record.sandbox, &self.record.spec).await,
            Life::Deleted => Err(self.no_such()),
        }
    }

    /// Its sandbox, for whoever looks on: that counts as no use, and wakes nobody. None where it has none.
    pub async fn running(&self) -> Option<Arc<dyn Sandbox>> {
        match &*self.life.lock().await {
            Life::Live(live) => Some(Arc::clone(&live.sandbox)),
            Life::Asleep | Life::Deleted => None,
        }
    }

    /// What its sandbox uses now, as seen by whoever looks on.
    pub async fn usage(&self) -> Option<Usage> {
        self.running().await?.usage().await.ok()
    }

    /// Freezes it where it stands. One that sleeps stands still already.
    pub async fn pause(&self) -> Result<()> {
        self.set_paused(true).await
    }

    pub async fn resume(&self) -> Result<()> {
        self.keep_alive();
        self.set_paused(false).await
    }

    async fn set_paused(&self, paused: bool) -> Result<()> {
        match &mut *self.life.lock().await {
            Life::Live(live) if live.paused != paused => {
                if paused {
                    live.sandbox.pause().await?;
                } else {
                    live.sandbox.resume().await?;
                }
                live.paused = paused;
                Ok(())
            }
            Life::Live(_) | Life::Asleep => Ok(()),
            Life::Deleted => Err(self.no_such()),
        }
    }

    /// Gives the processes back; files stay. A paused container keeps its frozen state and is left alone.
    pub async fn sleep(&self) -> Result<()> {
        let mut life = self.life.lock().await;
        if let Life::Live(live) = &*life
            && !live.paused
        {
            if live.sandbox.is_busy().await? {
                return Ok(());
            }
            live.sandbox.stop().await?;
            *life = Life::Asleep;
        }
        Ok(())
    }

    /// The same for one that is paused: what it holds in memory goes, and its next use starts afresh over its files.
    pub async fn sleep_paused(&self) -> Result<()> {
        let mut life = self.life.lock().await;
        if let Life::Live(live) = &*life
            && live.paused
        {
            live.sandbox.stop().await?;
            *life = Life::Asleep;
        }
        Ok(())
    }

    pub fn keep_alive(&self) {
        let mut used = self.lock_used();
        used.at = Instant::now();
        used.seconds = now_seconds();
    }

    pub(super) fn used(&self) -> Used {
        *self.lock_used()
    }

    /// The record to save, if its last use is not in the registry yet.
    pub(super) fn unrecorded(&self) -> Option<ContainerRecord> {
        let mut used = self.lock_used();
        if used.recorded == used.seconds {
            return None;
        }
        used.recorded = used.seconds;
        drop(used);
        Some(self.current())
    }

    fn lock_used(&self) -> std::sync::MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
