//! One terminal: its shell, the last of what that said, and the one client that may be connected to it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use sandgate_core::{
    BackendError, Input, Joined, ProcessEvent, ProcessRef, Processes, StartProcess, TerminalSize, random_hex,
};
use serde_json::{Value, json};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard, watch};

use super::super::guest::Guest;
use super::super::log::{Log, Source};
use super::super::place::lock;
use super::super::refusal::Refusal;
use super::super::variables::with_variables;
use crate::lent::Ended;

const USUAL_SIZE: TerminalSize = TerminalSize { columns: 80, rows: 24 };
const KILL: i32 = 9;
/// For the client that is connected to give way to another.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Terminal {
    pub(super) id: String,
    cwd: String,
    /// None: a shell to type into.
    command: Option<String>,
    state: AsyncMutex<()>,
    shell: Mutex<Shell>,
    log: Mutex<Log>,
    /// Changes with the log and the shell.
    pub(super) changed: watch::Sender<()>,
    /// Changes when somebody else wants to be connected.
    pub(super) taken_over: watch::Sender<()>,
    alone: Arc<AsyncMutex<()>>,
}

#[derive(Clone, Debug, Default)]
enum Shell {
    #[default]
    NotStarted,
    Failed,
    Running {
        tag: String,
        is_pipe: bool,
    },
    Ended(i32),
}

impl Terminal {
    pub(super) fn new(id: String, cwd: String, command: Option<String>) -> Self {
        Self {
            id,
            cwd,
            command,
            state: AsyncMutex::default(),
            shell: Mutex::default(),
            log: Mutex::default(),
            changed: watch::Sender::default(),
            taken_over: watch::Sender::default(),
            alone: Arc::default(),
        }
    }

    /// None: somebody is connected.
    pub(super) fn enter(&self) -> Option<OwnedMutexGuard<()>> {
        Arc::clone(&self.alone).try_lock_owned().ok()
    }

    /// Whoever is connected has to go. None: he does not.
    pub(super) async fn take_over(&self) -> Option<OwnedMutexGuard<()>> {
        self.taken_over.send_replace(());
        tokio::time::timeout(PATIENCE, Arc::clone(&self.alone).lock_owned()).await.ok()
    }

    pub(super) fn status(&self) -> Value {
        let shell = lock(&self.shell).clone();
        json!({
            "session_id": self.id,
            "running": matches!(shell, Shell::Running { .. }),
            "output_offset": lock(&self.log).end(),
            "launch_attempted": !matches!(shell, Shell::NotStarted),
            "launch_failed": matches!(shell, Shell::Failed),
        })
    }

    /// Starts the shell, unless it runs. Whether it is without a terminal.
    pub(super) async fn start(self: &Arc<Self>, guest: &Guest, is_pipe: bool) -> Result<bool, Refusal> {
        let _one_at_a_time = self.state.lock().await;
        if let Shell::Running { is_pipe, .. } = &*lock(&self.shell) {
            return Ok(*is_pipe);
        }
        let tag = format!("{}-{}", self.id, random_hex(4));
        let start = StartProcess {
            program: "bash".to_owned(),
            args: self.command.iter().flat_map(|command| ["-c".to_owned(), command.clone()]).collect(),
            env: with_variables(guest, [("TERM".to_owned(), "xterm-256color".to_owned())]).await,
            cwd: Some(self.cwd.clone()),
            tag: Some(tag.clone()),
            input: if is_pipe { Input::Pipe } else { Input::Terminal(USUAL_SIZE) },
            timeout: None,
        };
        match guest.target.start(start).await {
            Ok(joined) => {
                *lock(&self.shell) = Shell::Running { tag, is_pipe };
                tokio::spawn(Arc::clone(self).follow(joined));
                Ok(is_pipe)
            }
            Err(error) => {
                *lock(&self.shell) = Shell::Failed;
                Err(error.into())
            }
        }
    }

    async fn follow(self: Arc<Self>, mut joined: Joined) {
        let mut end = -1;
        while let Some(event) = joined.events.recv().await {
            match event {
                ProcessEvent::Stdout(bytes) | ProcessEvent::Terminal(bytes) => self.said(Source::Out, &bytes),
                ProcessEvent::Stderr(bytes) => self.said(Source::Err, &bytes),
                ProcessEvent::Ended(how) => end = Ended::from(&how).code,
            }
        }
        *lock(&self.shell) = Shell::Ended(end);
        self.changed.send_replace(());
    }

    fn said(&self, source: Source, bytes: &[u8]) {
        lock(&self.log).add(source, bytes);
        self.changed.send_replace(());
    }

    /// Where what follows begins, what was said from a place on, and where that ends.
    pub(super) fn after(&self, place: u64) -> (u64, Vec<(Source, Bytes)>, u64) {
        let log = lock(&self.log);
        let (begins, pieces) = log.after(place);
        let pieces = pieces.into_iter().map(|(source, piece)| (source, Bytes::copy_from_slice(piece)));
        (begins, pieces.collect(), log.end())
    }

    /// How it ended, if it has.
    pub(super) fn end(&self) -> Option<i32> {
        match &*lock(&self.shell) {
            Shell::Ended(code) => Some(*code),
            Shell::NotStarted | Shell::Failed | Shell::Running { .. } => None,
        }
    }

    /// By which the sandbox knows the shell. None: it does not run.
    pub(super) fn process(&self) -> Option<ProcessRef> {
        match &*lock(&self.shell) {
            Shell::Running { tag, .. } => Some(ProcessRef::Tag(tag.clone())),
            Shell::NotStarted | Shell::Failed | Shell::Ended(_) => None,
        }
    }

    pub(super) async fn kill(&self, processes: &dyn Processes) -> Result<(), Refusal> {
        let Some(process) = self.process() else { return Ok(()) };
        match processes.signal(&process, KILL).await {
            Ok(()) | Err(BackendError::NoSuchProcess(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
