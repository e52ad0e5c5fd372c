//! A backend of plain folders and ordinary processes of this machine: nothing is shut in. For tests of what
//! clients see of files and commands.

mod inside;
mod processes;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use super::MemoryFiles;
use crate::{
    Backend, BackendError, ContextId, ContextInfo, ContextSpec, ExecuteRequest, Execution, Files, Inside,
    Processes, Result, Sandbox, SandboxId, SandboxSpec, Usage,
};
use inside::LocalInside;
use processes::LocalProcesses;

#[derive(Debug)]
pub struct LocalBackend {
    root: PathBuf,
    live: Mutex<HashMap<SandboxId, Arc<LocalSandbox>>>,
}

impl LocalBackend {
    /// `root`: each sandbox has a folder there.
    #[must_use]
    pub fn new(root: PathBuf) -> Self {
        Self { root, live: Mutex::default() }
    }

    /// The one sandbox there is.
    #[must_use]
    pub fn only(&self) -> Option<Arc<LocalSandbox>> {
        lock(&self.live).values().next().cloned()
    }

    fn open(&self, id: &SandboxId, spec: &SandboxSpec) -> Result<Arc<dyn Sandbox>> {
        let root = self.root.join(id.as_str());
        for folder in ["home/user", "tmp", "mnt/data"] {
            std::fs::create_dir_all(root.join(folder))
                .map_err(|error| BackendError::Engine(error.to_string()))?;
        }
        let sandbox = Arc::new(LocalSandbox {
            id: id.clone(),
            is_alive: AtomicBool::new(true),
            inside: Arc::new(LocalInside::new(root.clone(), spec.limits.disk_bytes)),
            processes: Arc::new(LocalProcesses::new(root, spec.env.clone())),
        });
        lock(&self.live).insert(id.clone(), Arc::clone(&sandbox));
        Ok(sandbox)
    }
}

#[async_trait]
impl Backend for LocalBackend {
    fn name(&self) -> &'static str {
        "local"
    }
    async fn create(&self, spec: SandboxSpec) -> Result<Arc<dyn Sandbox>> {
        self.open(&SandboxId::random(), &spec)
    }
    async fn revive(&self, id: &SandboxId, spec: SandboxSpec) -> Result<Arc<dyn Sandbox>> {
        self.open(id, &spec)
    }
    async fn delete(&self, id: &SandboxId) -> Result<()> {
        let sandbox = lock(&self.live).remove(id);
        if let Some(sandbox) = sandbox {
            sandbox.stop().await?;
        }
        Ok(())
    }
    async fn files(&self, _id: &SandboxId, _spec: &SandboxSpec) -> Result<Arc<dyn Files>> {
        Err(no())
    }
    async fn shut_down(&self) {}
}

#[derive(Debug)]
pub struct LocalSandbox {
    id: SandboxId,
    is_alive: AtomicBool,
    inside: Arc<LocalInside>,
    processes: Arc<LocalProcesses>,
}

impl LocalSandbox {
    /// How many watches there are.
    #[must_use]
    pub fn watches(&self) -> usize {
        self.inside.watches()
    }
}

#[async_trait]
impl Sandbox for LocalSandbox {
    fn id(&self) -> &SandboxId {
        &self.id
    }
    fn is_alive(&self) -> bool {
        self.is_alive.load(Ordering::SeqCst)
    }
    async fn create_context(&self, _spec: ContextSpec) -> Result<ContextInfo> {
        Err(no())
    }
    async fn contexts(&self) -> Result<Vec<ContextInfo>> {
        Ok(Vec::new())
    }
    async fn delete_context(&self, _id: &ContextId) -> Result<()> {
        Err(no())
    }
    async fn execute(&self, _request: ExecuteRequest) -> Result<Execution> {
        Err(no())
    }
    async fn pause(&self) -> Result<()> {
        Ok(())
    }
    async fn resume(&self) -> Result<()> {
        Ok(())
    }
    async fn stop(&self) -> Result<()> {
        self.is_alive.store(false, Ordering::SeqCst);
        self.inside.end();
        self.processes.end();
        Ok(())
    }
    fn files(&self) -> Arc<dyn Files> {
        Arc::new(MemoryFiles::new(0, 0))
    }
    async fn inside(&self) -> Result<Arc<dyn Inside>> {
        Ok(Arc::clone(&self.inside) as _)
    }
    async fn processes(&self) -> Result<Arc<dyn Processes>> {
        Ok(Arc::clone(&self.processes) as _)
    }
    async fn usage(&self) -> Result<Usage> {
        Ok(Usage::default())
    }
}

fn no() -> BackendError {
    BackendError::Engine("not part of this test".to_owned())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
