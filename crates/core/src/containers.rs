//! The life of containers: made, used, paused, put to sleep when idle, woken with their files, deleted.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use tokio::sync::Mutex as AsyncMutex;

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
    all: Mutex<HashMap<ContainerId, Arc<Container>>>,
}

/// One container. Its sandbox comes and goes; its files stay until it is deleted.
#[derive(Debug)]
pub struct Container {
    record: ContainerRecord,
    backend: Arc<dyn Backend>,
    /// Held while the sandbox is started or ended, so that two callers never start it twice.
    life: AsyncMutex<Life>,
    last_used: Mutex<Instant>,
}

#[derive(Debug)]
enum Life {
    Live(Arc<dyn Sandbox>),
    Paused(Arc<dyn Sandbox>),
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
        let mut all = HashMap::new();
        for record in registry.load().map_err(registry_failed)? {
            let container = Container::new(record, Arc::clone(&backend), Life::Asleep);
            all.insert(container.record.id.clone(), Arc::new(container));
        }
        Ok(Self { backend, registry, config, all: Mutex::new(all) })
    }

    pub async fn create(&self, name: Option<String>, spec: SandboxSpec) -> Result<Arc<Container>> {
        if self.live_count() >= self.config.max_live {
            return Err(BackendError::Full { limit: self.config.max_live });
        }
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
        let container = Arc::new(Container::new(record, Arc::clone(&self.backend), Life::Live(sandbox)));
        self.lock().insert(container.record.id.clone(), Arc::clone(&container));
        Ok(container)
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
        *life = Life::Deleted;
        self.backend.delete(&container.record.sandbox).await?;
        // The record goes last: if the files could not be removed, the container is still listed.
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

    fn live_count(&self) -> usize {
        let all: Vec<_> = self.lock().values().cloned().collect();
        let mut live = 0;
        for container in all {
            // A container whose life is being changed right now counts as live.
            live += match container.life.try_lock().as_deref() {
                Ok(Life::Asleep | Life::Deleted) => 0,
                Ok(Life::Live(_) | Life::Paused(_)) | Err(_) => 1,
            };
        }
        live
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<ContainerId, Arc<Container>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Container {
    fn new(record: ContainerRecord, backend: Arc<dyn Backend>, life: Life) -> Self {
        Self { record, backend, life: AsyncMutex::new(life), last_used: Mutex::new(Instant::now()) }
    }

    #[must_use]
    pub fn id(&self) -> &ContainerId {
        &self.record.id
    }

    /// None once it is deleted.
    pub async fn info(&self) -> Option<ContainerInfo> {
        let state = match &*self.life.lock().await {
            Life::Live(_) => ContainerState::Running,
            Life::Paused(_) => ContainerState::Paused,
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

    /// The running sandbox, started again over the container's files when it sleeps.
    pub async fn sandbox(&self) -> Result<Arc<dyn Sandbox>> {
        self.keep_alive();
        let mut life = self.life.lock().await;
        match &*life {
            Life::Live(sandbox) => Ok(Arc::clone(sandbox)),
            Life::Paused(_) => Err(BackendError::Paused),
            Life::Deleted => Err(BackendError::NoSuchContainer(self.record.id.clone())),
            Life::Asleep => {
                let sandbox = self.backend.revive(&self.record.sandbox, self.record.spec.clone()).await?;
                *life = Life::Live(Arc::clone(&sandbox));
                Ok(sandbox)
            }
        }
    }

    /// Its files, whether it runs or not.
    pub async fn files(&self) -> Result<Arc<dyn Files>> {
        self.keep_alive();
        match &*self.life.lock().await {
            Life::Live(sandbox) | Life::Paused(sandbox) => Ok(sandbox.files()),
            Life::Asleep => self.backend.files(&self.record.sandbox, &self.record.spec).await,
            Life::Deleted => Err(BackendError::NoSuchContainer(self.record.id.clone())),
        }
    }

    pub async fn pause(&self) -> Result<()> {
        let mut life = self.life.lock().await;
        match &*life {
            Life::Live(sandbox) => {
                sandbox.pause().await?;
                *life = Life::Paused(Arc::clone(sandbox));
                Ok(())
            }
            Life::Paused(_) | Life::Asleep => Ok(()),
            Life::Deleted => Err(BackendError::NoSuchContainer(self.record.id.clone())),
        }
    }

    pub async fn resume(&self) -> Result<()> {
        self.keep_alive();
        let mut life = self.life.lock().await;
        match &*life {
            Life::Paused(sandbox) => {
                sandbox.resume().await?;
                *life = Life::Live(Arc::clone(sandbox));
                Ok(())
            }
            Life::Live(_) | Life::Asleep => Ok(()),
            Life::Deleted => Err(BackendError::NoSuchContainer(self.record.id.clone())),
        }
    }

    /// Gives the processes back; files stay. A paused container keeps its frozen state and is left alone.
    pub async fn sleep(&self) -> Result<()> {
        let mut life = self.life.lock().await;
        if let Life::Live(sandbox) = &*life {
            let busy = sandbox.contexts().await?.iter().any(|context| context.busy);
            if busy {
                return Ok(());
            }
            sandbox.stop().await?;
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
