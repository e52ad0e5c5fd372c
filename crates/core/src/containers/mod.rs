//! The life of containers: made, used, paused, put to sleep when idle, woken with their files, deleted.

mod container;
mod network;
mod places;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

pub use self::container::{Container, ContainerInfo, ContainerState};
use self::container::{Life, Live};
use self::places::Places;
use crate::network::NetworkPolicy;
use crate::registry::now_seconds;
use crate::{
    Backend, BackendError, BackendReport, BackendStats, ContainerId, ContainerRecord, KeyLimits,
    NetworkRules, Owner, Registry, RegistryError, Result, SandboxId, SandboxSpec, Share, Shares,
};

/// For one container to be put to sleep, or to be removed.
const LONGEST_END: Duration = Duration::from_secs(60);
/// Put to sleep at the same time.
const ENDED_AT_ONCE: usize = 16;

#[derive(Clone, Debug)]
pub struct ContainersConfig {
    /// How long a container may idle before its processes are given back. Its files stay.
    pub idle: Duration,
    /// Live sandboxes at once.
    pub max_live: usize,
    /// How long the files of a container that nobody uses are kept.
    pub keep: Duration,
    /// What containers may reach when nothing is asked for, and at most.
    pub network: NetworkRules,
}

impl Default for ContainersConfig {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(20 * 60),
            max_live: 1000,
            keep: Duration::from_secs(30 * 24 * 60 * 60),
            network: NetworkRules::default(),
        }
    }
}

/// What a container is made from.
#[derive(Clone, Debug, Default)]
pub struct NewContainer {
    pub owner: Owner,
    pub name: Option<String>,
    pub spec: SandboxSpec,
    /// What its code is to reach; None: what the server and the key give to those who ask for nothing. It decides
    /// over the network of `spec`.
    pub network: Option<NetworkPolicy>,
    /// None: the server's own.
    pub idle: Option<Duration>,
    pub memory_limit: Option<String>,
    /// As its maker wrote it, without secrets, to be said back.
    pub network_policy: Option<Value>,
    /// It is there to be copied, not to be used: it is not in lists.
    pub unlisted: bool,
    /// The session of its owner's that goes on in it.
    pub session: Option<String>,
    /// What its maker's key may have.
    pub allowance: Arc<KeyLimits>,
}

/// All containers of this server.
#[derive(Debug)]
pub struct Containers {
    backend: Arc<dyn Backend>,
    registry: Arc<dyn Registry>,
    config: ContainersConfig,
    places: Places,
    /// How many containers each owner has.
    kept: Shares,
    /// How many executions each owner has under way; whoever runs code takes one.
    executions: Shares,
    all: Mutex<HashMap<ContainerId, Arc<Container>>>,
}

impl Containers {
    /// Picks up the containers earlier servers left; they are asleep until used.
    pub async fn open(
        backend: Arc<dyn Backend>,
        registry: Arc<dyn Registry>,
        config: ContainersConfig,
    ) -> Result<Self> {
        let free = Arc::new(Semaphore::new(config.max_live));
        let places = Places { free, all: config.max_live, by_owner: Shares::default() };
        let (kept, executions) = (Shares::default(), Shares::default());
        let mut all = HashMap::new();
        for record in registry.load().await.map_err(registry_failed)? {
            let share = kept.take(&record.owner, None);
            let container = Container::new(record, Arc::clone(&backend), places.clone(), Life::Asleep, share);
            all.insert(container.record.id.clone(), Arc::new(container));
        }
        Ok(Self { backend, registry, config, places, kept, executions, all: Mutex::new(all) })
    }

    pub async fn create(&self, mut new: NewContainer) -> Result<Arc<Container>> {
        new.spec.backend = new.allowance.backend_for(new.spec.backend.take())?;
        new.spec.pinned = new.allowance.backend.is_some();
        if new.memory_limit.is_some() && !self.backend.decides_memory(new.spec.backend.as_deref()) {
            return Err(BackendError::Unsupported("choosing the memory of a sandbox"));
        }
        self.grant_network(&mut new)?;
        let share = self.take_share(&new)?;
        let place = self.places.take(&new.owner, new.allowance.sandboxes)?;
        let sandbox = self.backend.create(new.spec.clone()).await?;
        let id = sandbox.id().clone();
        self.add(new, id, Life::Live(Live::new(sandbox, place)), share).await
    }

    /// A container over a copy of the files of `from`, whether that runs or not. It sleeps until it is used.
    pub async fn copy(&self, from: &Container, mut new: NewContainer) -> Result<Arc<Container>> {
        new.allowance.check_backend(from.backend())?;
        // A copy is where its original is.
        new.spec.backend.clone_from(&from.record.spec.backend);
        self.grant_network(&mut new)?;
        let share = self.take_share(&new)?;
        from.keep_alive();
        let id = from.copy_files(new.spec.clone()).await?;
        self.add(new, id, Life::Asleep, share).await
    }

    fn take_share(&self, new: &NewContainer) -> Result<Share> {
        let share = self.kept.take(&new.owner, new.allowance.containers);
        let limit = new.allowance.containers.unwrap_or(u32::MAX);
        share.ok_or(BackendError::TooManyContainers { limit })
    }

    async fn add(
        &self,
        mut new: NewContainer,
        sandbox: SandboxId,
        life: Life,
        share: Share,
    ) -> Result<Arc<Container>> {
        let now = now_seconds();
        let named = match &life {
            Life::Live(live) => live.sandbox.backend().map(str::to_owned),
            Life::Asleep | Life::Deleted => new.spec.backend.clone(),
        };
        // Where it really is, which may be elsewhere than was asked for.
        let is_there = matches!(life, Life::Live(_)) && new.spec.backend.is_some();
        if named.is_some() || is_there {
            new.spec.backend = Some(named.clone().unwrap_or_else(|| self.backend.name().to_owned()));
        }
        let record = ContainerRecord {
            id: ContainerId::random(),
            owner: new.owner,
            backend: named.unwrap_or_else(|| self.backend.name().to_owned()),
            sandbox,
            name: new.name,
            created_at: now,
            last_active_at: now,
            idle_seconds: new.idle.unwrap_or(self.config.idle).as_secs(),
            spec: new.spec,
            memory_limit: new.memory_limit,
            network_policy: new.network_policy,
            unlisted: new.unlisted,
            session: new.session,
        };
        // Recorded before it is handed out: what a client has heard of must survive a crash.
        if let Err(error) = self.registry.save(&record).await {
            self.backend.delete(&record.sandbox).await?;
            return Err(registry_failed(error));
        }
        let container =
            Container::new(record, Arc::clone(&self.backend), self.places.clone(), life, Some(share));
        let container = Arc::new(container);
        self.lock().insert(container.record.id.clone(), Arc::clone(&container));
        Ok(container)
    }

    /// Whether the backend could make a sandbox now.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.backend.is_healthy()
    }

    #[must_use]
    pub fn backend_stats(&self) -> BackendStats {
        self.backend.stats()
    }

    #[must_use]
    pub fn backend_reports(&self) -> Vec<BackendReport> {
        self.backend.reports()
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lock().len()
    }

    /// How many of them have a sandbox, or are getting one.
    #[must_use]
    pub fn count_live(&self) -> usize {
        self.places.all.saturating_sub(self.places.free.available_permits())
    }

    /// Executions under way, by owner.
    #[must_use]
    pub fn executions(&self) -> &Shares {
        &self.executions
    }

    /// Whether `owner` could get a fresh container now, as far as its key goes.
    pub fn check_allowance(&self, owner: &Owner, allowance: &KeyLimits) -> Result<()> {
        match (allowance.containers, allowance.sandboxes) {
            (Some(limit), _) if self.kept.are_taken(owner, Some(limit)) => {
                Err(BackendError::TooManyContainers { limit })
            }
            (_, Some(limit)) if self.places.by_owner.are_taken(owner, Some(limit)) => {
                Err(BackendError::TooManySandboxes { limit })
            }
            _ => Ok(()),
        }
    }

    /// Another owner's container is as good as none.
    pub fn get(&self, owner: &Owner, id: &ContainerId) -> Result<Arc<Container>> {
        let found = self.lock().get(id).filter(|container| container.record.owner == *owner).cloned();
        found.ok_or_else(|| BackendError::NoSuchContainer(id.clone()))
    }

    /// Whoever's it is: for the operator.
    #[must_use]
    pub fn find(&self, id: &ContainerId) -> Option<Arc<Container>> {
        self.lock().get(id).cloned()
    }

    /// Everybody's, oldest first: for the operator.
    #[must_use]
    pub fn of_everybody(&self) -> Vec<Arc<Container>> {
        let mut all: Vec<_> =
            self.lock().values().filter(|container| !container.record.unlisted).cloned().collect();
        all.sort_by(|a, b| a.record.id.cmp(&b.record.id));
        all
    }

    /// The container that this sandbox is of.
    #[must_use]
    pub fn with_sandbox(&self, sandbox: &SandboxId) -> Option<Arc<Container>> {
        self.lock().values().find(|container| container.record.sandbox == *sandbox).cloned()
    }

    /// The container that a session of this owner's goes on in, the newest if there are several.
    #[must_use]
    pub fn in_session(&self, owner: &Owner, session: &str) -> Option<Arc<Container>> {
        let all = self.lock();
        let is_its = |container: &&Arc<Container>| {
            container.record.session.as_deref() == Some(session) && container.record.owner == *owner
        };
        all.values().filter(is_its).max_by_key(|container| container.record.created_at).cloned()
    }

    /// Oldest first.
    pub async fn list(&self, owner: &Owner) -> Vec<ContainerInfo> {
        let is_listed =
            |container: &&Arc<Container>| container.record.owner == *owner && !container.record.unlisted;
        let mut all: Vec<_> = self.lock().values().filter(is_listed).cloned().collect();
        all.sort_by(|a, b| a.record.id.cmp(&b.record.id));
        let mut infos = Vec::with_capacity(all.len());
        for container in all {
            infos.extend(container.info().await);
        }
        infos
    }

    /// Ends it and removes its files.
    pub async fn delete(&self, owner: &Owner, id: &ContainerId) -> Result<()> {
        let container = self.get(owner, id)?;
        self.remove(&container).await
    }

    async fn remove(&self, container: &Container) -> Result<()> {
        let mut life = container.life.lock().await;
        // From here on it cannot be used; if its files cannot be removed, it is asleep and can be deleted again.
        *life = Life::Asleep;
        match self.backend.delete(&container.record.sandbox).await {
            // A crash between the two removals leaves a record without files.
            Ok(()) | Err(BackendError::NoSuchSandbox(_)) => {}
            Err(error) => return Err(error),
        }
        *life = Life::Deleted;
        self.registry.remove(container.id()).await.map_err(registry_failed)?;
        self.lock().remove(container.id());
        container.kept.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok(())
    }

    /// Puts to sleep what has idled past its time, forgets what nobody has used for very long, and
    /// records when the others were last used; call now and then.
    pub async fn expire_idle(&self) {
        let all: Vec<_> = self.lock().values().cloned().collect();
        self.put_to_sleep(all.iter().filter(|container| container.is_expired())).await;
        for container in all {
            let id = container.id();
            if now_seconds().saturating_sub(container.used().seconds) > self.config.keep.as_secs() {
                tracing::info!(container = %id, "removing a container that was not used for very long");
                match timeout(LONGEST_END, self.remove(&container)).await {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => {
                        tracing::warn!(container = %id, %error, "an old container could not be removed")
                    }
                    Err(_) => {
                        tracing::warn!(container = %id, "an old container could not be removed in time")
                    }
                }
                continue;
            }
            let _saving = container.saving.lock().await;
            if let Some(record) = container.unrecorded()
                && let Err(error) = self.registry.save(&record).await
            {
                tracing::warn!(container = %id, %error, "the last use of a container could not be recorded");
            }
        }
    }

    /// Several at once, and none for longer than its time: one whose backend hangs keeps no other awake.
    async fn put_to_sleep<'a>(&self, idle: impl Iterator<Item = &'a Arc<Container>>) {
        let mut going = JoinSet::new();
        for container in idle {
            let container = Arc::clone(container);
            if going.len() >= ENDED_AT_ONCE {
                going.join_next().await;
            }
            going.spawn(async move {
                let id = container.id();
                match timeout(LONGEST_END, container.sleep()).await {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => {
                        tracing::warn!(container = %id, %error, "an idle container could not be put to sleep")
                    }
                    Err(_) => {
                        tracing::warn!(container = %id, "an idle container could not be put to sleep in time")
                    }
                }
            });
        }
        going.join_all().await;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<ContainerId, Arc<Container>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn registry_failed(error: RegistryError) -> BackendError {
    BackendError::Engine(format!("the container registry could not be read or written: {error}"))
}
