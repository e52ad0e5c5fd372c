//! Containers lent for a time: what the doors share whose clients make a sandbox, give it an end, pause it and
//! come back to it by its id. In memory, and written through to where it survives the server.

mod frozen;
mod lease;
mod parsed;
mod registry;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::{Mutex as AsyncMutex, MutexGuard as AsyncGuard, watch};
use tokio_util::task::TaskTracker;

pub use lease::{Lease, LeaseState, NewLease, OnEnd};
pub use parsed::Parsed;
pub use registry::{LeaseRegistry, MemoryLeases};

use frozen::Frozen;

use crate::{BackendError, Container, ContainerId, Containers, KeyLimits, Owner, RegistryError};

#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// It never was, its time is over, or it is another's.
    #[error("there is no such sandbox")]
    NotFound,
    #[error("the sandbox is paused already")]
    Paused,
    #[error("the sandbox runs already")]
    Running,
    #[error(transparent)]
    Backend(#[from] BackendError),
    #[error("the leases could not be read or written: {0}")]
    Registry(RegistryError),
}

type Result<T> = std::result::Result<T, LeaseError>;

/// All leases of this server.
#[derive(Debug)]
pub struct Leases {
    containers: Arc<Containers>,
    registry: Arc<dyn LeaseRegistry>,
    all: Mutex<HashMap<String, Arc<Held>>>,
    /// Those whose end is under way.
    ending: Mutex<HashSet<String>>,
    /// Those that hold memory while they are paused.
    frozen: Frozen,
    /// Changes go on to their end here, whoever stops waiting for them.
    tasks: TaskTracker,
}

/// A lease as it is now, replaced as a whole by whoever changes it.
#[derive(Debug)]
struct Held {
    now: Mutex<Arc<Lease>>,
    /// Held while it changes, so that an end and an extension never cross.
    changing: AsyncMutex<()>,
    /// True from the moment it ends, for those whose work in it is to be cut short.
    gone: watch::Sender<bool>,
}

impl Held {
    fn new(lease: Lease) -> Self {
        Self {
            now: Mutex::new(Arc::new(lease)),
            changing: AsyncMutex::default(),
            gone: watch::Sender::new(false),
        }
    }

    fn lease(&self) -> Arc<Lease> {
        Arc::clone(&self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Arc<Lease>> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a lease that is paused keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keeps {
    Memory,
    Files,
}

impl Leases {
    /// Picks up what earlier servers lent. One whose container is gone is gone too.
    pub async fn open(containers: Arc<Containers>, registry: Arc<dyn LeaseRegistry>) -> Result<Self> {
        let mut all = HashMap::new();
        for lease in registry.leases().await.map_err(LeaseError::Registry)? {
            if let Ok(container) = containers.get(&lease.owner, &lease.container) {
                container.lend();
                all.insert(lease.id.clone(), Arc::new(Held::new(lease)));
            } else {
                registry.remove_lease(&lease.id).await.map_err(LeaseError::Registry)?;
            }
        }
        Ok(Self {
            containers,
            registry,
            all: Mutex::new(all),
            ending: Mutex::default(),
            frozen: Frozen::default(),
            tasks: TaskTracker::new(),
        })
    }

    /// Makes a container and lends it. Its time starts when it is ready.
    pub async fn grant(&self, new: NewLease) -> Result<Arc<Lease>> {
        let container = self.containers.create(new.container.clone()).await?;
        self.lend(new, &container, LeaseState::Running).await
    }

    /// The same over a copy of the files of `from`. One that is `Paused` from the start has no processes before
    /// it is resumed.
    pub async fn grant_copy(&self, new: NewLease, from: &Lease, state: LeaseState) -> Result<Arc<Lease>> {
        let from = self.container(from)?;
        let container = self.containers.copy(&from, new.container.clone()).await?;
        if state == LeaseState::Running
            && let Err(error) = container.sandbox_within(&new.container.allowance).await
        {
            self.containers.delete(container.owner(), container.id()).await?;
            return Err(error.into());
        }
        self.lend(new, &container, state).await
    }

    async fn lend(&self, new: NewLease, container: &Container, state: LeaseState) -> Result<Arc<Lease>> {
        container.lend();
        let now = now_ms();
        let lease = Lease {
            id: new.id,
            door: new.door.to_owned(),
            owner: container.owner().clone(),
            container: container.id().clone(),
            metadata: new.metadata,
            started_ms: now,
            ends_ms: new.lasts_ms.map(|lasts| now.saturating_add(lasts)),
            on_end: new.on_end,
            wakes: new.wakes,
            files_only: false,
            ends_paused: new.ends_paused,
            state,
            details: new.details,
            parsed: Parsed::default(),
        };
        if let Err(error) = self.registry.save_lease(&lease).await {
            self.containers.delete(&lease.owner, &lease.container).await?;
            return Err(LeaseError::Registry(error));
        }
        let held = Held::new(lease);
        let lease = held.lease();
        self.lock().insert(lease.id.clone(), Arc::new(held));
        Ok(lease)
    }

    /// Of this owner.
    pub fn get(&self, door: &str, owner: &Owner, id: &str) -> Result<Arc<Lease>> {
        let lease = self.find(door, id)?;
        if lease.owner == *owner { Ok(lease) } else { Err(LeaseError::NotFound) }
    }

    /// Whoever's it is: for those who look at a token of the lease itself.
    pub fn find(&self, door: &str, id: &str) -> Result<Arc<Lease>> {
        let held = self.held(id)?;
        let lease = held.lease();
        if lease.door == door && self.is_there(&held) { Ok(lease) } else { Err(LeaseError::NotFound) }
    }

    /// Those of one owner, oldest first.
    #[must_use]
    pub fn list(&self, door: &str, owner: &Owner) -> Vec<Arc<Lease>> {
        let mut leases = self.all(door);
        leases.retain(|lease| lease.owner == *owner);
        leases.sort_by(|a, b| (a.started_ms, &a.id).cmp(&(b.started_ms, &b.id)));
        leases
    }

    /// Those of everybody, in no order.
    #[must_use]
    pub fn all(&self, door: &str) -> Vec<Arc<Lease>> {
        let all: Vec<_> = self.lock().values().cloned().collect();
        let there = all.into_iter().filter(|held| self.is_there(held));
        there.map(|held| held.lease()).filter(|lease| lease.door == door).collect()
    }

    /// One that is to be deleted counts as gone from the moment its time is over, or its end has begun.
    fn is_there(&self, held: &Held) -> bool {
        let lease = held.lease();
        let is_over = lease.on_end == OnEnd::Delete && lease.is_over(now_ms());
        let is_gone = is_over || *held.gone.borrow();
        !is_gone && self.containers.get(&lease.owner, &lease.container).is_ok()
    }

    /// Under which this container is lent now, whichever door lent it: for the operator.
    #[must_use]
    pub fn lent(&self, container: &ContainerId) -> Option<Arc<Lease>> {
        let all: Vec<_> = self.lock().values().cloned().collect();
        let there = all.into_iter().filter(|held| self.is_there(held)).map(|held| held.lease());
        there.into_iter().find(|lease| lease.container == *container)
    }

    /// The container that is lent.
    pub fn container(&self, lease: &Lease) -> Result<Arc<Container>> {
        self.containers.get(&lease.owner, &lease.container).map_err(|_| LeaseError::NotFound)
    }

    /// None: no end any more.
    pub async fn set_end(self: &Arc<Self>, id: &str, ends_ms: Option<u64>) -> Result<Arc<Lease>> {
        self.change(id, move |lease| lease.ends_ms = ends_ms).await
    }

    /// Later than it was, or as it was.
    pub async fn extend_to(self: &Arc<Self>, id: &str, ends_ms: u64) -> Result<Arc<Lease>> {
        self.change(id, move |lease| lease.ends_ms = lease.ends_ms.map(|end| end.max(ends_ms))).await
    }

    pub async fn set_metadata(
        self: &Arc<Self>,
        id: &str,
        metadata: std::collections::BTreeMap<String, String>,
    ) -> Result<Arc<Lease>> {
        self.change(id, move |lease| lease.metadata = metadata).await
    }

    /// What `change` makes of the door's own.
    pub async fn change_details(
        self: &Arc<Self>,
        id: &str,
        change: impl FnOnce(&mut serde_json::Value) + Send + 'static,
    ) -> Result<Arc<Lease>> {
        self.change(id, move |lease| change(&mut lease.details)).await
    }

    /// Freezes it where it stands.
    pub async fn pause(self: &Arc<Self>, id: &str) -> Result<Arc<Lease>> {
        self.pause_with(id, Keeps::Memory).await
    }

    /// The same, and only its files are kept.
    pub async fn pause_files(self: &Arc<Self>, id: &str) -> Result<Arc<Lease>> {
        self.pause_with(id, Keeps::Files).await
    }

    async fn pause_with(self: &Arc<Self>, id: &str, keeps: Keeps) -> Result<Arc<Lease>> {
        let (leases, held) = (Arc::clone(self), self.held(id)?);
        self.to_the_end(async move {
            let _changing = leases.begin(&held).await?;
            let lease = held.lease();
            if lease.state == LeaseState::Paused {
                return Err(LeaseError::Paused);
            }
            leases.freeze(&held, &lease, keeps).await
        })
        .await
    }

    /// Thaws it, or starts it afresh over its files when a server ended meanwhile. `allowance`: of the key it is
    /// resumed with.
    pub async fn resume(
        self: &Arc<Self>,
        id: &str,
        ends_ms: Option<u64>,
        allowance: &KeyLimits,
    ) -> Result<Arc<Lease>> {
        let (leases, held, allowance) = (Arc::clone(self), self.held(id)?, allowance.clone());
        self.to_the_end(async move {
            let _changing = leases.begin(&held).await?;
            let lease = held.lease();
            if lease.state == LeaseState::Running {
                return Err(LeaseError::Running);
            }
            let container = leases.container(&lease)?;
            container.resume().await?;
            let resumed = match container.sandbox_within(&allowance).await {
                Ok(_) => {
                    leases.frozen.remove(&lease.owner, &lease.id);
                    let lease =
                        Lease { state: LeaseState::Running, files_only: false, ends_ms, ..(*lease).clone() };
                    leases.replace(&held, lease).await
                }
                Err(error) => Err(error.into()),
            };
            if resumed.is_err()
                && let Err(error) = container.pause().await
            {
                tracing::warn!(lease = lease.id, %error, "a sandbox that could not be resumed runs on");
            }
            resumed
        })
        .await
    }

    /// Ends it with everything it has.
    pub async fn delete(self: &Arc<Self>, id: &str) -> Result<()> {
        let (leases, held) = (Arc::clone(self), self.held(id)?);
        self.to_the_end(async move {
            let _changing = leases.begin(&held).await?;
            leases.end(&held).await
        })
        .await
    }

    /// A change that stopped half-way would leave one thing in memory, another on disk.
    async fn to_the_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let abandoned = |_| BackendError::Engine("a change of a sandbox was abandoned".to_owned()).into();
        self.tasks.spawn(work).await.unwrap_or_else(|error| Err(abandoned(error)))
    }

    /// Waits until no change and no end is under way.
    pub async fn settled(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Becomes true when the lease ends. None: it has ended.
    #[must_use]
    pub fn gone(&self, id: &str) -> Option<watch::Receiver<bool>> {
        Some(self.held(id).ok()?.gone.subscribe())
    }

    /// Begins to delete or pause what is over; call every second or so. Nobody waits for a slow one.
    pub async fn end_due(self: &Arc<Self>) {
        let now = now_ms();
        let all: Vec<_> = self.lock().values().cloned().collect();
        for held in all {
            let lease = held.lease();
            let Ok(container) = self.container(&lease) else {
                held.gone.send_replace(true);
                self.forget(&lease).await;
                continue;
            };
            if lease.is_over(now) {
                if self.lock_ending().insert(lease.id.clone()) {
                    self.tasks.spawn(Arc::clone(self).end_one(held));
                }
            } else if lease.state == LeaseState::Running {
                // What is lent is in use, and not to be cleared away for its age.
                container.keep_alive();
            }
        }
    }

    async fn end_one(self: Arc<Self>, held: Arc<Held>) {
        self.end_if_over(&held).await;
        self.lock_ending().remove(&held.lease().id);
    }

    async fn end_if_over(self: &Arc<Self>, held: &Held) {
        let Ok(_changing) = self.begin(held).await else { return };
        let lease = held.lease();
        // It may have been extended while this waited.
        if !lease.is_over(now_ms()) {
            return;
        }
        let ended = match lease.on_end {
            OnEnd::Delete => self.end(held).await,
            OnEnd::Pause => self.freeze(held, &lease, Keeps::Memory).await.map(drop),
            OnEnd::PauseFiles => self.freeze(held, &lease, Keeps::Files).await.map(drop),
        };
        if let Err(error) = ended {
            tracing::warn!(lease = lease.id, %error, "a sandbox whose time is over could not be ended; it is tried again");
        }
    }

    async fn freeze(self: &Arc<Self>, held: &Held, lease: &Lease, keeps: Keeps) -> Result<Arc<Lease>> {
        let container = self.container(lease)?;
        container.pause().await?;
        let files_only = keeps == Keeps::Files;
        let paused =
            self.replace(held, Lease { state: LeaseState::Paused, files_only, ..lease.clone() }).await?;
        if files_only {
            container.sleep_paused().await?;
            return Ok(paused);
        }
        for oldest in self.frozen.add(&paused.owner, &paused.id) {
            // Not here: this lease is held, and somebody who holds the other may want this one.
            let leases = Arc::clone(self);
            self.tasks.spawn(async move { leases.give_up_memory(&oldest).await });
        }
        Ok(paused)
    }

    /// A paused one keeps its files and no more.
    async fn give_up_memory(&self, id: &str) {
        let Ok(held) = self.held(id) else { return };
        let Ok(_changing) = self.begin(&held).await else { return };
        let lease = held.lease();
        // It may have been resumed, and paused again, while this waited.
        if lease.state != LeaseState::Paused || self.frozen.has(&lease.owner, id) {
            return;
        }
        let Ok(container) = self.container(&lease) else { return };
        match container.sleep_paused().await {
            Ok(()) => {
                tracing::info!(
                    lease = id,
                    "too many sandboxes of one owner are paused: one gave up its memory"
                );
            }
            Err(error) => tracing::warn!(lease = id, %error, "a paused sandbox keeps its memory"),
        }
    }

    async fn end(&self, held: &Held) -> Result<()> {
        let lease = held.lease();
        held.gone.send_replace(true);
        match self.containers.delete(&lease.owner, &lease.container).await {
            Ok(()) | Err(BackendError::NoSuchContainer(_)) => {}
            Err(error) => {
                held.gone.send_replace(false);
                return Err(error.into());
            }
        }
        self.lock().remove(&lease.id);
        self.frozen.remove(&lease.owner, &lease.id);
        self.registry.remove_lease(&lease.id).await.map_err(LeaseError::Registry)
    }

    /// Its container was deleted by somebody else.
    async fn forget(&self, lease: &Lease) {
        self.lock().remove(&lease.id);
        self.frozen.remove(&lease.owner, &lease.id);
        if let Err(error) = self.registry.remove_lease(&lease.id).await {
            tracing::warn!(lease = lease.id, %error, "a lease without a container could not be forgotten");
        }
    }

    async fn change(
        self: &Arc<Self>,
        id: &str,
        change: impl FnOnce(&mut Lease) + Send + 'static,
    ) -> Result<Arc<Lease>> {
        let (leases, held) = (Arc::clone(self), self.held(id)?);
        self.to_the_end(async move {
            let _changing = leases.begin(&held).await?;
            let mut lease = (*held.lease()).clone();
            change(&mut lease);
            leases.replace(&held, lease).await
        })
        .await
    }

    async fn replace(&self, held: &Held, lease: Lease) -> Result<Arc<Lease>> {
        self.registry.save_lease(&lease).await.map_err(LeaseError::Registry)?;
        let lease = Arc::new(lease);
        *held.lock() = Arc::clone(&lease);
        Ok(lease)
    }

    /// Nobody else changes it from here on. It may have ended while this waited.
    async fn begin<'a>(&self, held: &'a Held) -> Result<AsyncGuard<'a, ()>> {
        let changing = held.changing.lock().await;
        self.held(&held.lease().id)?;
        Ok(changing)
    }

    fn held(&self, id: &str) -> Result<Arc<Held>> {
        self.lock().get(id).cloned().ok_or(LeaseError::NotFound)
    }

    fn lock_ending(&self) -> MutexGuard<'_, HashSet<String>> {
        self.ending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Held>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Milliseconds since 1970.
#[must_use]
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
