//! The life of containers: made, used, paused, put to sleep when idle, woken with their files, deleted.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;
use tokio::sync::{Mutex as AsyncMutex, OwnedSemaphorePermit, Semaphore};

use crate::network::NetworkPolicy;
use crate::network_rules::check_use;
use crate::registry::now_seconds;
use crate::{
    Backend, BackendError, BackendStats, ContainerId, ContainerRecord, ExecuteRequest, Execution, Files,
    KeyLimits, NetworkRules, Owner, Registry, RegistryError, Result, Sandbox, SandboxId, SandboxSpec, Share,
    Shares, Usage,
};

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

/// One container. Its sandbox comes and goes; its files stay until it is deleted.
#[derive(Debug)]
pub struct Container {
    record: ContainerRecord,
    backend: Arc<dyn Backend>,
    places: Places,
    /// Held while the sandbox is started or ended, so that two callers never start it twice.
    life: Arc<AsyncMutex<Life>>,
    used: Mutex<Used>,
    /// It counts as its owner's until it is deleted.
    kept: Mutex<Option<Share>>,
    /// What it may reach, and how that was put, if it was changed since `record`.
    network: Mutex<Option<(NetworkPolicy, Option<Value>)>>,
    /// Held while its record is saved, so that an older one never comes after a newer.
    saving: AsyncMutex<()>,
}

/// When a container was last used, by the clock that never jumps and by the one that is recorded.
#[derive(Clone, Copy, Debug)]
struct Used {
    at: Instant,
    seconds: u64,
    /// What the registry has.
    recorded: u64,
}

/// Room for live sandboxes; each takes a place while it lives.
#[derive(Clone, Debug)]
struct Places {
    free: Arc<Semaphore>,
    all: usize,
    by_owner: Shares,
}

#[derive(Debug)]
struct Place {
    _of_owner: Share,
    _of_server: OwnedSemaphorePermit,
}

impl Places {
    /// At once or not at all: a hidden queue would only look like a slow server.
    fn take(&self, owner: &Owner, most: Option<u32>) -> Result<Place> {
        let of_owner = self.by_owner.take(owner, most);
        let of_owner = of_owner.ok_or(BackendError::TooManySandboxes { limit: most.unwrap_or(u32::MAX) })?;
        let of_server = Arc::clone(&self.free).try_acquire_owned();
        let of_server = of_server.map_err(|_| BackendError::Full { limit: self.all })?;
        Ok(Place { _of_owner: of_owner, _of_server: of_server })
    }
}

#[derive(Debug)]
struct Live {
    sandbox: Arc<dyn Sandbox>,
    paused: bool,
    _place: Place,
}

impl Live {
    fn new(sandbox: Arc<dyn Sandbox>, place: Place) -> Self {
        Self { sandbox, paused: false, _place: place }
    }
}

#[derive(Debug)]
enum Life {
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
    pub network_policy: Option<Value>,
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
        self.grant_network(&mut new)?;
        let share = self.take_share(&new)?;
        let place = self.places.take(&new.owner, new.allowance.sandboxes)?;
        let sandbox = self.backend.create(new.spec.clone()).await?;
        let id = sandbox.id().clone();
        self.add(new, id, Life::Live(Live::new(sandbox, place)), share).await
    }

    /// A container over a copy of the files of `from`, whether that runs or not. It sleeps until it is used.
    pub async fn copy(&self, from: &Container, mut new: NewContainer) -> Result<Arc<Container>> {
        self.grant_network(&mut new)?;
        let share = self.take_share(&new)?;
        from.keep_alive();
        let id = from.copy_files(new.spec.clone()).await?;
        self.add(new, id, Life::Asleep, share).await
    }

    /// Every door's containers pass here, so that none reaches more than the server and the key allow.
    fn grant_network(&self, new: &mut NewContainer) -> Result<()> {
        let asked = new.network.take();
        new.spec.network = self.network_on(new.spec.backend.as_deref(), asked, &new.allowance)?;
        Ok(())
    }

    /// The policy that is granted for what is asked; None asks for nothing in particular.
    pub fn network_within(
        &self,
        asked: Option<NetworkPolicy>,
        allowance: &KeyLimits,
    ) -> Result<NetworkPolicy> {
        self.network_on(allowance.backend.as_deref(), asked, allowance)
    }

    fn network_on(
        &self,
        backend: Option<&str>,
        asked: Option<NetworkPolicy>,
        allowance: &KeyLimits,
    ) -> Result<NetworkPolicy> {
        let is_asked = asked.is_some();
        let granted = self.config.network.grant(asked, allowance.network.as_deref());
        let granted = granted.map_err(|refused| BackendError::Invalid(refused.to_string()))?;
        match granted.is_disabled() || self.backend.has_network(backend) {
            true => Ok(granted),
            false if is_asked => Err(BackendError::Unsupported("giving a sandbox a network policy")),
            // What is usual here says nothing of sandboxes that are made elsewhere.
            false => Ok(NetworkPolicy::disabled()),
        }
    }

    /// For who asks for the internet as a whole: all of it, or None where that is not allowed.
    #[must_use]
    pub fn widest_network(&self, allowance: &KeyLimits) -> Option<NetworkPolicy> {
        self.config.network.widest(allowance.network.as_deref())
    }

    /// Changes what a container may reach, at once if it runs. `said`: the policy as it is said back.
    pub async fn set_network(
        &self,
        container: &Arc<Container>,
        asked: Option<NetworkPolicy>,
        said: Option<Value>,
        allowance: &KeyLimits,
    ) -> Result<()> {
        let backend = container.record.spec.backend.as_deref();
        let mut policy = self.network_on(backend, asked, allowance)?;
        keep_placeholders(&mut policy, &container.network());
        let (container, registry) = (Arc::clone(container), Arc::clone(&self.registry));
        // In a task of its own: a caller that leaves meanwhile must not leave a change that is not on record.
        let changed = tokio::spawn(async move {
            // Nobody starts or ends it meanwhile: a sandbox that is just being started would miss the change.
            let life = container.life.lock().await;
            match &*life {
                Life::Deleted => return Err(container.no_such()),
                Life::Live(live) if live.sandbox.is_alive() => {
                    live.sandbox.set_network(policy.clone()).await?;
                }
                Life::Live(_) | Life::Asleep => {}
            }
            *container.network.lock().unwrap_or_else(PoisonError::into_inner) = Some((policy, said));
            let _saving = container.saving.lock().await;
            registry.save(&container.current()).await.map_err(registry_failed)
        });
        changed.await.map_err(|_| BackendError::Engine("changing a network was abandoned".to_owned()))?
    }

    fn take_share(&self, new: &NewContainer) -> Result<Share> {
        let share = self.kept.take(&new.owner, new.allowance.containers);
        let limit = new.allowance.containers.unwrap_or(u32::MAX);
        share.ok_or(BackendError::TooManyContainers { limit })
    }

    async fn add(
        &self,
        new: NewContainer,
        sandbox: SandboxId,
        life: Life,
        share: Share,
    ) -> Result<Arc<Container>> {
        let now = now_seconds();
        let named = match &life {
            Life::Live(live) => live.sandbox.backend().map(str::to_owned),
            Life::Asleep | Life::Deleted => new.spec.backend.clone(),
        };
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
        for container in all {
            let id = container.id();
            if now_seconds().saturating_sub(container.used().seconds) > self.config.keep.as_secs() {
                tracing::info!(container = %id, "removing a container that was not used for very long");
                if let Err(error) = self.remove(&container).await {
                    tracing::warn!(container = %id, %error, "an old container could not be removed");
                }
                continue;
            }
            if container.is_expired()
                && let Err(error) = container.sleep().await
            {
                tracing::warn!(container = %id, %error, "an idle container could not be put to sleep");
            }
            let _saving = container.saving.lock().await;
            if let Some(record) = container.unrecorded()
                && let Err(error) = self.registry.save(&record).await
            {
                tracing::warn!(container = %id, %error, "the last use of a container could not be recorded");
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<ContainerId, Arc<Container>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Container {
    fn new(
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
            saving: AsyncMutex::default(),
        }
    }

    /// The record with what was changed since.
    fn current(&self) -> ContainerRecord {
        let mut record = self.record.clone();
        if let Some((policy, said)) = &*self.network.lock().unwrap_or_else(PoisonError::into_inner) {
            record.spec.network = policy.clone();
            record.network_policy.clone_from(said);
        }
        record.last_active_at = self.used().seconds;
        record
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
    async fn copy_files(&self, spec: SandboxSpec) -> Result<SandboxId> {
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

    fn no_such(&self) -> BackendError {
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

    fn used(&self) -> Used {
        *self.lock_used()
    }

    /// The record to save, if its last use is not in the registry yet.
    fn unrecorded(&self) -> Option<ContainerRecord> {
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

/// What runs already knows a secret by its old placeholder.
fn keep_placeholders(new: &mut NetworkPolicy, old: &NetworkPolicy) {
    for secret in &mut new.secrets {
        let same = old.secrets.iter().find(|one| one.name == secret.name && one.domain == secret.domain);
        if let Some(same) = same {
            secret.placeholder.clone_from(&same.placeholder);
        }
    }
}

fn registry_failed(error: RegistryError) -> BackendError {
    BackendError::Engine(format!("the container registry could not be read or written: {error}"))
}
