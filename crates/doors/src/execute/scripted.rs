//! A backend for this door's tests: the words of the code say what happens.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use sandgate_core::{
    Backend, BackendError, ContextId, ContextInfo, ContextSpec, Ending, Event, ExecuteRequest, Execution,
    ExecutionHandle, Files, Result, Sandbox, SandboxId, SandboxSpec, Usage,
};
use tokio::sync::{Notify, mpsc};

#[derive(Debug, Default)]
pub(super) struct Scripted {
    pub(super) created: AtomicUsize,
    pub(super) deleted: AtomicUsize,
    /// Told when the reader of `hang` goes away.
    pub(super) abandoned: Arc<Notify>,
}

#[async_trait]
impl Backend for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }
    async fn create(&self, _spec: SandboxSpec) -> Result<Arc<dyn Sandbox>> {
        self.created.fetch_add(1, Ordering::SeqCst);
        let abandoned = Arc::clone(&self.abandoned);
        Ok(Arc::new(ScriptedSandbox { id: SandboxId::random(), contexts: Mutex::default(), abandoned }))
    }
    async fn revive(&self, _id: &SandboxId, spec: SandboxSpec) -> Result<Arc<dyn Sandbox>> {
        self.create(spec).await
    }
    async fn delete(&self, _id: &SandboxId) -> Result<()> {
        self.deleted.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
    async fn files(&self, _id: &SandboxId, _spec: &SandboxSpec) -> Result<Arc<dyn Files>> {
        Err(no())
    }
    async fn shut_down(&self) {}
}

#[derive(Debug)]
struct ScriptedSandbox {
    id: SandboxId,
    contexts: Mutex<Vec<ContextId>>,
    abandoned: Arc<Notify>,
}

#[async_trait]
impl Sandbox for ScriptedSandbox {
    fn id(&self) -> &SandboxId {
        &self.id
    }
    async fn create_context(&self, spec: ContextSpec) -> Result<ContextInfo> {
        let id = spec.id.ok_or_else(no)?;
        self.contexts.lock().unwrap().push(id.clone());
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
            && !self.contexts.lock().unwrap().contains(&id)
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
        tokio::spawn(play(request.code, sender, Arc::clone(&self.abandoned)));
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
        unreachable!("this door reads no files")
    }
    async fn usage(&self) -> Result<Usage> {
        Ok(Usage::default())
    }
}

async fn play(code: String, events: mpsc::Sender<Event>, abandoned: Arc<Notify>) {
    for word in code.split_whitespace() {
        match word {
            "hang" => {
                events.closed().await;
                abandoned.notify_one();
                return;
            }
            "break" => return,
            text => events.send(Event::Stdout { text: format!("{text}\n") }).await.unwrap(),
        }
    }
    let done = Event::Done { ending: Ending::Ok, text: String::new(), execution_count: 1, duration_ms: 0.5 };
    events.send(done).await.unwrap();
}

fn no() -> BackendError {
    BackendError::Engine("not part of this test".to_owned())
}
