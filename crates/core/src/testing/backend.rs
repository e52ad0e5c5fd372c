//! A backend without processes: the words of the code say what happens.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::sync::{Notify, mpsc};

use super::{MemoryFiles, ScriptedPorts};
use crate::network::NetworkPolicy;
use crate::{
    Backend, BackendError, CodeError, ContextId, ContextInfo, ContextSpec, Ending, Event, ExecuteRequest,
    Execution, ExecutionHandle, Files, Inside, MimeBundle, NetworkBy, Result, Sandbox, SandboxId,
    SandboxSpec, Usage, random_hex,
};

/// More entries than this cannot be listed at once, as with the real one.
const MAX_LISTED: usize = 10_000;

/// Each word is printed, but: `fail` alone is refused by the backend, `hang` waits until nobody
/// listens, `break` ends without an ending, `write:NAME=TEXT` makes a file in the working directory,
/// `value:TEXT` is shown as a value, `env` prints the variables of the run, `raise` and `die` end it.
#[derive(Debug, Default)]
pub struct ScriptedBackend {
    pub created: AtomicUsize,
    pub deleted: AtomicUsize,
    /// Told when the reader of `hang` goes away.
    pub abandoned: Arc<Notify>,
    /// What listens inside every sandbox.
    pub ports: Arc<ScriptedPorts>,
    files: Mutex<HashMap<SandboxId, Arc<MemoryFiles>>>,
    networks: Networks,
}

/// What each sandbox was last told that it may reach.
type Networks = Arc<Mutex<HashMap<SandboxId, NetworkPolicy>>>;

impl ScriptedBackend {
    /// What the one sandbox there is may reach.
    #[must_use]
    pub fn only_network(&self) -> Option<NetworkPolicy> {
        self.networks.lock().unwrap_or_else(PoisonError::into_inner).values().next().cloned()
    }

    fn set_network(&self, id: &SandboxId, policy: &NetworkPolicy) {
        let mut networks = self.networks.lock().unwrap_or_else(PoisonError::into_inner);
        networks.insert(id.clone(), policy.clone());
    }

    /// The files of the one sandbox there is.
    #[must_use]
    pub fn only_files(&self) -> Option<Arc<MemoryFiles>> {
        self.lock().values().next().cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SandboxId, Arc<MemoryFiles>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sandbox(&self, id: SandboxId, files: Arc<MemoryFiles>) -> Arc<dyn Sandbox> {
        let (abandoned, ports) = (Arc::clone(&self.abandoned), Arc::clone(&self.ports));
        let networks = Arc::clone(&self.networks);
        Arc::new(ScriptedSandbox { id, contexts: Mutex::default(), files, abandoned, ports, networks })
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
    /// The one that is called "closed" gives no network.
    fn network(&self, backend: Option<&str>) -> NetworkBy {
        match backend {
            Some("closed") => NetworkBy::Backend(NetworkPolicy::disabled()),
            _ => NetworkBy::Policy,
        }
    }
    async fn create(&self, spec: SandboxSpec) -> Result<Arc<dyn Sandbox>> {
        self.created.fetch_add(1, Ordering::SeqCst);
        let id = SandboxId::random();
        let files = Arc::new(MemoryFiles::new(spec.limits.disk_bytes, MAX_LISTED));
        self.lock().insert(id.clone(), Arc::clone(&files));
        self.set_network(&id, &spec.network);
        Ok(self.sandbox(id, files))
    }
    async fn revive(&self, id: &SandboxId, spec: SandboxSpec) -> Result<Arc<dyn Sandbox>> {
        self.set_network(id, &spec.network);
        Ok(self.sandbox(id.clone(), self.files_of(id)?))
    }
    async fn copy(&self, from: &SandboxId, spec: &SandboxSpec) -> Result<SandboxId> {
        let (id, files) = (SandboxId::random(), self.files_of(from)?.copied(spec.limits.disk_bytes));
        self.lock().insert(id.clone(), Arc::new(files));
        Ok(id)
    }
    async fn delete(&self, id: &SandboxId) -> Result<()> {
        self.deleted.fetch_add(1, Ordering::SeqCst);
        self.lock().remove(id);
        self.networks.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
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
    contexts: Mutex<Vec<ContextInfo>>,
    files: Arc<MemoryFiles>,
    abandoned: Arc<Notify>,
    ports: Arc<ScriptedPorts>,
    networks: Networks,
}

impl ScriptedSandbox {
    fn lock(&self) -> MutexGuard<'_, Vec<ContextInfo>> {
        self.contexts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The default one is always there.
    fn check_context(&self, id: &ContextId) -> Result<()> {
        if *id == ContextId::default_context() || self.lock().iter().any(|info| info.id == *id) {
            return Ok(());
        }
        Err(BackendError::NoSuchContext(id.clone()))
    }
}

#[async_trait]
impl Sandbox for ScriptedSandbox {
    fn id(&self) -> &SandboxId {
        &self.id
    }
    async fn create_context(&self, spec: ContextSpec) -> Result<ContextInfo> {
        check_language(spec.language.as_deref())?;
        let id = spec.id.map_or_else(|| ContextId::parse(&format!("ctx_{}", random_hex(8))), Ok)?;
        let cwd = spec.cwd.unwrap_or_else(|| "/mnt/data".to_owned());
        let info = ContextInfo { id, language: "python".to_owned(), cwd, busy: false };
        self.lock().push(info.clone());
        Ok(info)
    }
    async fn contexts(&self) -> Result<Vec<ContextInfo>> {
        Ok(self.lock().clone())
    }
    async fn delete_context(&self, id: &ContextId) -> Result<()> {
        self.check_context(id)?;
        self.lock().retain(|info| info.id != *id);
        Ok(())
    }
    async fn restart_context(&self, id: &ContextId) -> Result<()> {
        self.check_context(id)
    }
    async fn execute(&self, request: ExecuteRequest) -> Result<Execution> {
        if let Some(id) = &request.context {
            self.check_context(id)?;
        }
        check_language(request.language.as_deref())?;
        if request.code == "fail" {
            return Err(BackendError::Engine("secret detail".to_owned()));
        }
        let (sender, events) = mpsc::channel(8);
        let (handle, _stops) = ExecutionHandle::new();
        tokio::spawn(play(request, sender, Arc::clone(&self.files), Arc::clone(&self.abandoned)));
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
    async fn inside(&self) -> Result<Arc<dyn Inside>> {
        Ok(Arc::clone(&self.ports) as _)
    }
    async fn set_network(&self, policy: NetworkPolicy) -> Result<()> {
        self.networks.lock().unwrap_or_else(PoisonError::into_inner).insert(self.id.clone(), policy);
        Ok(())
    }
    async fn usage(&self) -> Result<Usage> {
        Ok(Usage::default())
    }
}

fn check_language(language: Option<&str>) -> Result<()> {
    match language {
        None | Some("python") => Ok(()),
        Some(other) => {
            let (language, available) = (other.to_owned(), "python".to_owned());
            Err(BackendError::NoSuchLanguage { language, available })
        }
    }
}

/// Whether anybody still listens does not matter to code.
async fn play(
    request: ExecuteRequest,
    events: mpsc::Sender<Event>,
    files: Arc<MemoryFiles>,
    abandoned: Arc<Notify>,
) {
    let (mut ending, mut text) = (Ending::Ok, String::new());
    if request.with_chart_data {
        let _ = events.send(Event::Started { execution_count: 1 }).await;
    }
    for word in request.code.split_whitespace() {
        match (word, word.strip_prefix("write:").and_then(|rest| rest.split_once('='))) {
            ("hang", _) => {
                events.closed().await;
                abandoned.notify_one();
                return;
            }
            ("break", _) => return,
            ("raise", _) => {
                let (name, value) = ("ValueError".to_owned(), "told to".to_owned());
                let traceback = vec!["first line".to_owned(), "second line".to_owned()];
                let _ = events.send(Event::Error(CodeError { name, value, traceback })).await;
                ending = Ending::Raised;
                break;
            }
            ("die", _) => {
                (ending, text) = (Ending::Signalled { signal: 9 }, "the interpreter died".to_owned());
                break;
            }
            ("env", _) => {
                let text = request.env.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
                let _ = events.send(Event::Stdout { text }).await;
            }
            (word, _) if word.starts_with("value:") => {
                let text = format!("'{}'", &word["value:".len()..]);
                let data = MimeBundle::from_iter([("text/plain".to_owned(), text.into())]);
                let _ = events.send(Event::Result { data, execution_count: 1 }).await;
            }
            (_, Some((name, text))) => files.set(&format!("/mnt/data/{name}"), text.to_owned()),
            (text, None) => {
                let _ = events.send(Event::Stdout { text: format!("{text}\n") }).await;
            }
        }
    }
    let done = Event::Done { ending, text, execution_count: 1, duration_ms: 0.5 };
    let _ = events.send(done).await;
}
