//! A backend without processes: the words of the code say what happens.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::sync::{Notify, mpsc};

use super::MemoryFiles;
use crate::{
    Backend, BackendError, ContextId, ContextInfo, ContextSpec, Ending, Event, ExecuteRequest, Execution,
    ExecutionHandle, Files, Result, Sandbox, SandboxId, SandboxSpec, Usage,
};

/// More entries than this cannot be listed at once, as with the real one.
const MAX_LISTED: usize = 10_000;

/// Each word is printed, but: `fail` alone is refused by the backend, `hang` waits until nobody
/// listens, `break` ends without an ending, `write:NAME=TEXT` makes a file in the working directory.
#[derive(Debug, Default)]
pub struct ScriptedBackend {
    pub created: AtomicUsize,
    pub deleted: AtomicUsize,
    /// Told when the reader of `hang` goes away.
    pub abandoned: Arc<Notify>,
    files: Mutex<HashMap<SandboxId, Arc<MemoryFiles>>>,
}

impl ScriptedBackend {
    /// The files of the one sandbox there is.
    #[must_use]
    pub fn only_files(&self) -> Option<Arc<MemoryFiles>> {
        self.lock().values().next().cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SandboxId, Arc<MemoryFiles>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sandbox(&self, id: SandboxId, files: Arc<MemoryFiles>) -> Arc<dyn Sandbox> {
        let abandoned = Arc::clone(&self.abandoned);
        Arc::new(ScriptedSandbox { id, contexts: Mutex::default(), files, abandoned })
    }

    fn files_of(&self, id: &SandboxId) -> Result<Arc<MemoryFiles>> {
        self.lock().get(id).cloned().ok_or_else(|| BackendError::NoSuchSandbox(id.clone()))
    }
}

#[async_trait]
impl Backend for ScriptedBackend {
    fn name(&self) -> &'static str {
        "scripted"
    }
    async fn create(&self, spec: SandboxSpec) -> Result<Arc<dyn Sandbox>> {
        self.created.fetch_add(1, Ordering::SeqCst);
        let id = SandboxId::random();
        let files = Arc::new(MemoryFiles::new(spec.limits.disk_bytes, MAX_LISTED));
        self.lock().insert(id.clone(), Arc::clone(&files));
        Ok(self.sandbox(id, files))
    }
    async fn revive(&self, id: &SandboxId, _spec: SandboxSpec) -> Result<Arc<dyn Sandbox>> {
        Ok(self.sandbox(id.clone(), self.files_of(id)?))
    }
    async fn delete(&self, id: &SandboxId) -> Result<()> {
        self.deleted.fetch_add(1, Ordering::SeqCst);
        self.lock().remove(id);
        Ok(())
    }
    async fn files(&self, id: &SandboxId, _spec: &SandboxSpec) -> Result<Arc<dyn Files>> {
        Ok(self.files_of(id)?)
    }
    async fn shut_down(&self) {}
}

#[derive(Debug)]
struct ScriptedSandbox {
    id: SandboxId,
    contexts: Mutex<Vec<ContextId>>,
    files: Arc<MemoryFiles>,
    abandoned: Arc<Notify>,
}

impl ScriptedSandbox {
    fn lock(&self) -> MutexGuard<'_, Vec<ContextId>> {
        self.contexts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Sandbox for ScriptedSandbox {
    fn id(&self) -> &SandboxId {
        &self.id
    }
    async fn create_context(&self, spec: ContextSpec) -> Result<ContextInfo> {
        let id = spec.id.ok_or_else(no)?;
        self.lock().push(id.clone());
        Ok(ContextInfo { id, language: "python".to_owned(), cwd: "/mnt/data".to_owned(), busy: false })
    }
    async fn contexts(&self) -> Result<Vec<ContextInfo>> {
        Ok(Vec::new())
    }
    async fn delete_context(&self, _id: &ContextId) -> Result<()> {
        Err(no())
    }
    async fn execute(&self, request: ExecuteRequest) -> Result<Execution> {
        if let Some(id) = request.context
            && !self.lock().contains(&id)
        {
            return Err(BackendError::NoSuchContext(id));
        }
        if let Some(language) = request.language.filter(|language| language != "python") {
            return Err(BackendError::NoSuchLanguage { language, available: "python".to_owned() });
        }
        if request.code == "fail" {
            return Err(BackendError::Engine("secret detail".to_owned()));
        }
        let (sender, events) = mpsc::channel(8);
        let (handle, _stops) = ExecutionHandle::new();
        tokio::spawn(play(request.code, sender, Arc::clone(&self.files), Arc::clone(&self.abandoned)));
        Ok(Execution { events, handle })
    }
    async fn pause(&self) -> Result<()> {
        Ok(())
    }
    async fn resume(&self) -> Result<()> {
        Ok(())
    }
    async fn stop(&self) -> Result<()> {
        Ok(())
    }
    fn files(&self) -> Arc<dyn Files> {
        Arc::clone(&self.files) as _
    }
    async fn usage(&self) -> Result<Usage> {
        Ok(Usage::default())
    }
}

/// Whether anybody still listens does not matter to code.
async fn play(code: String, events: mpsc::Sender<Event>, files: Arc<MemoryFiles>, abandoned: Arc<Notify>) {
    for word in code.split_whitespace() {
        match (word, word.strip_prefix("write:").and_then(|rest| rest.split_once('='))) {
            ("hang", _) => {
                events.closed().await;
                abandoned.notify_one();
                return;
            }
            ("break", _) => return,
            (_, Some((name, text))) => files.set(&format!("/mnt/data/{name}"), text.to_owned()),
            (text, None) => {
                let _ = events.send(Event::Stdout { text: format!("{text}\n") }).await;
            }
        }
    }
    let done = Event::Done { ending: Ending::Ok, text: String::new(), execution_count: 1, duration_ms: 0.5 };
    let _ = events.send(done).await;
}

fn no() -> BackendError {
    BackendError::Engine("not part of this test".to_owned())
}
