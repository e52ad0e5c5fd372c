//! The two traits behind which code runs. Doors and the gate know these, never a backend.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use crate::network::NetworkPolicy;
use crate::{BackendError, ContextId, Event, Files, Inside, Limits, Processes, Result, SandboxId};

/// What decides what the sandboxes of a backend reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetworkBy {
    /// The policy of each.
    Policy,
    /// The operator, for all of them alike: each has this, or nothing where somebody wants that.
    Backend(NetworkPolicy),
}

/// Somewhere code can run.
#[async_trait]
pub trait Backend: Send + Sync + Debug {
    fn name(&self) -> &'static str;

    /// Whether it could make a sandbox now, as far as one can tell without trying.
    fn is_healthy(&self) -> bool {
        true
    }

    /// What it has made ahead; all zero where it makes nothing ahead.
    fn stats(&self) -> BackendStats {
        BackendStats::default()
    }

    /// How each backend is, as far as one can tell without asking; none where there is only one of no name.
    fn reports(&self) -> Vec<BackendReport> {
        Vec::new()
    }

    /// What decides what its sandboxes reach; `backend`: as in [`SandboxSpec`].
    fn network(&self, _backend: Option<&str>) -> NetworkBy {
        NetworkBy::Backend(NetworkPolicy::disabled())
    }

    /// Whether [`Limits::memory_bytes`] counts there; `backend`: as in [`SandboxSpec`].
    fn decides_memory(&self, _backend: Option<&str>) -> bool {
        true
    }

    /// A new sandbox with empty files, ready to execute.
    async fn create(&self, spec: SandboxSpec) -> Result<Arc<dyn Sandbox>>;

    /// The processes of `id` are gone; start it again over the files it left.
    async fn revive(&self, id: &SandboxId, spec: SandboxSpec) -> Result<Arc<dyn Sandbox>>;

    /// A new sandbox that does not run yet, over a copy of the files of `from`, which may run: it stands still
    /// meanwhile where that can be. Its memory and processes are not copied. When nobody waits for it any more,
    /// nothing is left of it.
    async fn copy(&self, _from: &SandboxId, _spec: &SandboxSpec) -> Result<SandboxId> {
        Err(BackendError::Unsupported("copying a sandbox"))
    }

    /// End the sandbox if it lives and remove its files.
    async fn delete(&self, id: &SandboxId) -> Result<()>;

    /// Files of a sandbox that is not running.
    async fn files(&self, id: &SandboxId, spec: &SandboxSpec) -> Result<Arc<dyn Files>>;

    /// End every process; files stay.
    async fn shut_down(&self);
}

/// One backend of several, for those who watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackendReport {
    /// As in [`SandboxSpec::backend`].
    pub name: String,
    /// Whether it is asked at all now.
    pub is_available: bool,
    /// How often it failed by its own fault since the start.
    pub failures: u64,
}

/// Sandboxes made ahead: how many wait, and how many were taken since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackendStats {
    /// With an interpreter that runs.
    pub ready_warm: usize,
    /// Without one.
    pub ready_cold: usize,
    pub claimed_warm: u64,
    pub claimed_cold: u64,
    /// New sandboxes for which none was ready.
    pub misses: u64,
}

/// One running isolated place. Dropping the last handle does not end it; [`Sandbox::stop`] does.
#[async_trait]
pub trait Sandbox: Send + Sync + Debug {
    fn id(&self) -> &SandboxId;

    /// The name of the backend it runs on, where there are several.
    fn backend(&self) -> Option<&str> {
        None
    }

    /// Whether it still runs. One that was lost is revived over its files by whoever needs it next.
    fn is_alive(&self) -> bool {
        true
    }

    /// Names of the languages that it can run now.
    fn languages(&self) -> Vec<String> {
        vec!["python".to_owned()]
    }

    async fn create_context(&self, spec: ContextSpec) -> Result<ContextInfo>;
    /// The default one first, the youngest last.
    async fn contexts(&self) -> Result<Vec<ContextInfo>>;
    /// Ends the context's interpreter and whatever it started.
    async fn delete_context(&self, id: &ContextId) -> Result<()>;
    /// The same, and the context stays: its next execution starts afresh.
    async fn restart_context(&self, _id: &ContextId) -> Result<()> {
        Err(BackendError::Unsupported("restarting a context"))
    }

    /// Runs code. Executions of one context queue; those of different contexts run side by side.
    async fn execute(&self, request: ExecuteRequest) -> Result<Execution>;

    /// Whether something runs that was asked for: an execution, or a process of [`Self::processes`]. What is busy
    /// is not put to sleep.
    async fn is_busy(&self) -> Result<bool> {
        Ok(self.contexts().await?.iter().any(|context| context.busy))
    }

    /// Freezes every process where it stands.
    async fn pause(&self) -> Result<()>;
    async fn resume(&self) -> Result<()>;

    /// Ends every process; files stay.
    async fn stop(&self) -> Result<()>;

    fn files(&self) -> Arc<dyn Files>;
    /// Everything as its programs see it.
    async fn inside(&self) -> Result<Arc<dyn Inside>> {
        Err(BackendError::Unsupported("reaching files and ports inside a sandbox"))
    }
    /// Commands and terminals inside it.
    async fn processes(&self) -> Result<Arc<dyn Processes>> {
        Err(BackendError::Unsupported("running a command"))
    }
    /// What its code may reach from now on; what is connected and is not allowed any more is cut off.
    async fn set_network(&self, _policy: NetworkPolicy) -> Result<()> {
        Err(BackendError::Unsupported("changing what a sandbox may reach"))
    }
    async fn usage(&self) -> Result<Usage>;
    /// The part of it that costs next to nothing to look up; None where it is not counted.
    fn meter(&self) -> Option<Meter> {
        None
    }
}

/// What all processes of a sandbox have used since it was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meter {
    pub cpu_micros: u64,
    /// The most that was in use at one time, ever.
    pub memory_peak_bytes: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SandboxSpec {
    pub limits: Limits,
    /// Variables every context starts with.
    #[serde(default)]
    pub env: Vec<(String, String)>,
    /// Where the default context works; None: [`crate::SandboxPath::WORKING_DIR`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working_dir: Option<String>,
    /// The name of the backend that is to run it; None: the server's default. One that exists stays where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// It is to run there and nowhere else, whatever takes the place of a backend that is not available.
    #[serde(skip)]
    pub pinned: bool,
    /// What its code may reach outside; nothing, unless something is said.
    #[serde(default, skip_serializing_if = "NetworkPolicy::is_disabled")]
    pub network: NetworkPolicy,
}

#[derive(Clone, Debug, Default)]
pub struct ContextSpec {
    /// None: the backend chooses a name.
    pub id: Option<ContextId>,
    /// None: the backend's first language, Python.
    pub language: Option<String>,
    /// Working directory; None: the sandbox's own, `/mnt/data` unless its spec says otherwise.
    pub cwd: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContextInfo {
    pub id: ContextId,
    pub language: String,
    pub cwd: String,
    /// An execution is running in it now.
    pub busy: bool,
}

#[derive(Clone, Debug, Default)]
pub struct ExecuteRequest {
    pub code: String,
    /// None: the default context, made on first use.
    pub context: Option<ContextId>,
    pub language: Option<String>,
    /// None: the sandbox's wall limit. Never more than that.
    pub timeout: Option<Duration>,
    /// Variables for this run alone, on top of the sandbox's own.
    pub env: Vec<(String, String)>,
    /// Figures also come as what they show (`e2b/chart`), tables as their data (`e2b/data`), lists and
    /// dictionaries as JSON; saved pictures are shown; [`Event::Started`] comes first.
    pub with_chart_data: bool,
}

/// A run under way. Dropping it interrupts the code: nobody is left to read the answer.
#[derive(Debug)]
pub struct Execution {
    pub events: mpsc::Receiver<Event>,
    pub handle: ExecutionHandle,
}

/// Lets somebody other than the reader of events stop the run.
#[derive(Clone, Debug)]
pub struct ExecutionHandle(mpsc::UnboundedSender<Stop>);

/// What a handle may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    Interrupt,
    Kill,
}

impl ExecutionHandle {
    #[must_use]
    pub fn new() -> (Self, mpsc::UnboundedReceiver<Stop>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }
    /// As Ctrl-C does. No effect once the run has ended.
    pub fn interrupt(&self) {
        let _ = self.0.send(Stop::Interrupt);
    }
    /// At once, with the loss of the context's state.
    pub fn kill(&self) {
        let _ = self.0.send(Stop::Kill);
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    pub memory_bytes: u64,
    pub memory_peak_bytes: u64,
    pub cpu_micros: u64,
    pub processes: u64,
    pub disk_bytes: u64,
}
