//! The life of containers: made, used, paused, put to sleep when idle, woken with their files, deleted.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use tokio::sync::{Mutex as AsyncMutex, OwnedSemaphorePermit, Semaphore};

use crate::registry::now_seconds;
use crate::{
    Backend, BackendError, ContainerId, ContainerRecord, ExecuteRequest, Execution, Files, Registry, Result,
    Sandbox, SandboxSpec,
};

#[derive(Clone, Debug)]
pub struct ContainersConfig {
    /// How long a container may idle before its processes are given back. Its files stay.
    pub idle: Duration,
    /// Live sandboxes at once.
    pub max_live: usize,
}

impl Default for ContainersConfig {
    fn default() -> Self {
        Self { idle: Duration::from_secs(20 * 60), max_live: 1000 }
    }
}

/// All containers of this server.
#[derive(Debug)]
pub struct Containers {
    backend: Arc<dyn Backend>,
    registry: Registry,
    config: ContainersConfig,
    places: Places,
    all: Mutex<HashMap<ContainerId, Arc<Container>>>,
}

/// One container. Its sandbox comes and goes; its files stay until it is deleted.
#[derive(Debug)]
pub struct Container {
    record: ContainerRecord,
    backend: Arc<dyn Backend>,
    places: Places,
    /// Held while the sandbox is started or ended, so that two callers never start it twice.
    life: AsyncMutex<Life>,
    last_used: Mutex<Instant>,
}

/// Room for live sandboxes; each takes a place while it lives.
#[derive(Clone, Debug)]
struct Places {
    free: Arc<Semaphore>,
    all: usize,
}

impl Places {
    /// At once or not at all: a hidden queue would only look like a slow server.
    fn take(&self) -> Result<OwnedSemaphorePermit> {
        Arc::clone(&self.free).try_acquire_owned().map_err(|_| BackendError::Full { limit: self.all })
    }
}

#[derive(Debug)]
struct Live {
    sandbox: Arc<dyn Sandbox>,
    paused: bool,
    _place: OwnedSemaphorePermit,
}

impl Live {
    fn new(sandbox: Arc<dyn Sandbox>, place: OwnedSemaphorePermit) -> Self {
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
    pub idle_seconds: u64,
}

impl Containers {
    /// Picks up the containers earlier servers left; they are asleep until used.
    pub fn open(backend: Arc<dyn Backend>, registry: Registry, config: ContainersConfig) -> Result<Self> {
        let places = Places { free: Arc::new(Semaphore::new(config.max_live)), all: config.max_live };
        let mut all = HashMap::new();
        for record in registry.load().map_err(registry_failed)? {
            let container = Container::new(record, Arc::clone(&backend), places.clone(), Life::Asleep);
            all.insert(container.record.id.clone(), Arc::new(container));
        }
        Ok(Self { backend, registry, config, places, all: Mutex::new(all) })
    }

    pub async fn create(&self, name: Option<String>, spec: SandboxSpec) -> Result<Arc<Container>> {
        let place = self.places.take()?;
        let sandbox = self.backend.create(spec.clone()).await?;
        let record = ContainerRecord {
            id: ContainerId::random(),
            backend: self.backend.name().to_owned(),
            sandbox: sandbox.id().clone(),
            name,
            created_at: now_seconds(),
            idle_seconds: self.config.idle.as_secs(),
            spec,
        };
        // Recorded before it is handed out: what a client has heard of must survive a crash.
        if let Err(error) = self.registry.save(&record) {
            self.backend.delete(&record.sandbox).await?;
            return Err(registry_failed(error));
        }
        let life = Life::Live(Live::new(sandbox, place));
        let container = Container::new(record, Arc::clone(&self.backend), self.places.clone(), life);
        let container = Arc::new(container);
        self.lock().insert(container.record.id.clone(), Arc::clone(&container));
        Ok(container)
    }

    /// Whether the backend could make a sandbox now.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.backend.is_healthy()
    }

    pub fn get(&self, id: &ContainerId) -> Result<Arc<Container>> {
        self.lock().get(id).cloned().ok_or_else(|| BackendError::NoSuchContainer(id.clone()))
    }

    pub async fn list(&self) -> Vec<ContainerInfo> {
        let all: Vec<_> = self.lock().values().cloned().collect();
        let mut infos = Vec::with_capacity(all.len());
        for container in all {
            infos.extend(container.info().await);
        }
        infos.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        infos
    }

    /// Ends it and removes its files.
    pub async fn delete(&self, id: &ContainerId) -> Result<()> {
        let container = self.get(id)?;
        let mut life = container.life.lock().await;
        // From here on it cannot be used; if its files cannot be removed, it is asleep and can be deleted again.
        *life = Life::Asleep;
        match self.backend.delete(&container.record.sandbox).await {
            // A crash between the two removals leaves a record without files.
            Ok(()) | Err(BackendError::NoSuchSandbox(_)) => {}
            Err(error) => return Err(error),
        }
        *life = Life::Deleted;
        self.registry.remove(id).map_err(registry_failed)?;
        self.lock().remove(id);
        Ok(())
    }

    /// Puts to sleep what has idled past its time; call now and then.
    pub async fn expire_idle(&self) {
        let all: Vec<_> = self.lock().values().cloned().collect();
        for container in all {
            if container.idle_for() > Duration::from_secs(container.record.idle_seconds)
                && let Err(error) = container.sleep().await
            {
                tracing::warn!(container = %container.record.id, %error, "an idle container could not be put to sleep");
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<ContainerId, Arc<Container>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Container {
    fn new(record: ContainerRecord, backend: Arc<dyn Backend>, places: Places, life: Life) -> Self {
        Self { record, backend, places, life: AsyncMutex::new(life), last_used: Mutex::new(Instant::now()) }
    }

    #[must_use]
    pub fn id(&self) -> &ContainerId {
        &self.record.id
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
            idle_seconds: self.record.idle_seconds,
        })
    }

    /// Runs code, waking the container when it sleeps.
    pub async fn execute(&self, request: ExecuteRequest) -> Result<Execution> {
        self.sandbox().await?.execute(request).await
    }

    /// The running sandbox, started again over the container's files when it sleeps or was lost.
    pub async fn sandbox(&self) -> Result<Arc<dyn Sandbox>> {
        self.keep_alive();
        let mut life = self.life.lock().await;
        if let Life::Live(live) = &*life
            && !live.sandbox.is_alive()
        {
            tracing::warn!(container = %self.record.id, "the sandbox of a container was lost; it gets a new one");
            live.sandbox.stop().await?;
            *life = Life::Asleep;
        }
        match &*life {
            Life::Live(live) if live.paused => Err(BackendError::Paused),
            Life::Live(live) => Ok(Arc::clone(&live.sandbox)),
            Life::Deleted => Err(self.no_such()),
            Life::Asleep => {
                let place = self.places.take()?;
                let revived = self.backend.revive(&self.record.sandbox, self.record.spec.clone()).await;
                let sandbox = revived.map_err(|error| match error {
                    BackendError::NoSuchSandbox(_) => self.no_such(),
                    other => other,
                })?;
                *life = Life::Live(Live::new(Arc::clone(&sandbox), place));
                Ok(sandbox)
            }
        }
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
            let busy = live.sandbox.contexts().await?.iter().any(|context| context.busy);
            if busy {
                return Ok(());
            }
            live.sandbox.stop().await?;
            *life = Life::Asleep;
        }
        Ok(())
    }

    pub fn keep_alive(&self) {
        *self.last_used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn idle_for(&self) -> Duration {
        self.last_used.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }
}

fn registry_failed(error: std::io::Error) -> BackendError {
    BackendError::Engine(format!("the container registry could not be read or written: {error}"))
}
