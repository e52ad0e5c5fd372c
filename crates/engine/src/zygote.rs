//! The engine's side of the zygote: asks it to fork, hears which children ended and how.

use std::collections::{HashMap, VecDeque};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

use sandgate_core::{BackendError, Limits, Result};
use sandgate_jail::message::{Channel, Message};
use sandgate_jail::{Layers, sys};
use tokio::sync::oneshot;

use crate::StartError;
use crate::helper::{Helper, ZYGOTE_FOLDER};
use crate::runtime::VENV_INSIDE;

/// How much is imported before the first fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preload {
    /// The data stack: slow to start, and every sandbox after that is fast.
    Full,
    /// The interpreter alone: for one run of a command.
    Lean,
    /// No kernel at all: for programs, which keep nothing of what they were forked from.
    Bare,
}

/// Bounds that a kernel puts on itself, besides those its control group keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForkOrder {
    pub(crate) layers: Layers,
    pub(crate) open_files: u64,
    pub(crate) file_bytes: u64,
    pub(crate) address_space: u64,
    pub(crate) processes: u64,
}

impl ForkOrder {
    pub(crate) fn new(layers: Layers, limits: &Limits, cgroups: bool) -> Self {
        Self {
            layers,
            open_files: limits.open_files,
            file_bytes: limits.disk_bytes,
            // The last resort where no control group counts memory: one process's address space.
            address_space: if cgroups { 0 } else { limits.memory_bytes.saturating_add(1 << 30) },
            // Where a control group counts them, it says so when it refuses; this one is only behind it.
            processes: u64::from(limits.processes) * if cgroups { 4 } else { 1 },
        }
    }

    fn words(&self, kind: OrderKind) -> [String; 6] {
        [
            kind.word().to_owned(),
            u64::from(self.layers.bits()).to_string(),
            self.open_files.to_string(),
            self.file_bytes.to_string(),
            self.address_space.to_string(),
            self.processes.to_string(),
        ]
    }
}

/// What the child is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OrderKind {
    /// A copy of the zygote.
    Fork,
    /// A program that a file among the descriptors describes.
    Exec,
}

impl OrderKind {
    fn word(self) -> &'static str {
        match self {
            Self::Fork => "fork",
            Self::Exec => "exec",
        }
    }
}

/// A fork that happened.
#[derive(Debug)]
pub(crate) struct ForkedKernel {
    pub(crate) pidfd: OwnedFd,
    /// The raw wait status, once it ended.
    pub(crate) exit: oneshot::Receiver<i32>,
}

#[derive(Debug)]
pub(crate) struct Zygote {
    channel: Arc<Channel>,
    state: Arc<Mutex<State>>,
    /// Keeps the process known; it ends when its channel closes.
    _process: OwnedFd,
}

#[derive(Debug, Default)]
struct State {
    /// Answers come in the order of the orders.
    waiting: VecDeque<oneshot::Sender<Result<ForkedKernel>>>,
    running: HashMap<u64, oneshot::Sender<i32>>,
    gone: bool,
}

impl Zygote {
    /// Starts it and waits until everything is imported. Blocks for a second or so.
    pub(crate) fn start(helper: &Helper, preload: Preload) -> std::result::Result<Self, StartError> {
        let failed = |error: &dyn std::fmt::Display| StartError::Zygote(error.to_string());
        let (ours, theirs) = sys::packet_pair().map_err(|error| failed(&error))?;
        let mode = match preload {
            Preload::Full => "full",
            Preload::Lean => "lean",
            Preload::Bare => "bare",
        };
        let script = format!("{ZYGOTE_FOLDER}/sandgate_kernel/__main__.py");
        let python = format!("{VENV_INSIDE}/bin/python3");
        let arguments = [python.as_str(), "-I", "-X", "utf8", &script, "3", mode];
        let environment = [
            "PATH=/opt/venv/bin:/usr/bin:/bin",
            "HOME=/home/user",
            "LANG=C.UTF-8",
            "MPLBACKEND=agg",
            "OPENBLAS_NUM_THREADS=1",
            "PYTHONDONTWRITEBYTECODE=1",
        ];
        let process =
            helper.start_zygote(theirs.as_fd(), &arguments, &environment).map_err(|error| failed(&error))?;
        drop(theirs);
        let channel = Arc::new(Channel::new(ours));
        match channel.receive().map_err(|error| failed(&error))? {
            Some(message) if message.words.first().is_some_and(|word| word == "ready") => {}
            _ => return Err(failed(&"it ended while importing; its last words are above")),
        }
        let state = Arc::new(Mutex::new(State::default()));
        let (reader, shared) = (Arc::clone(&channel), Arc::clone(&state));
        std::thread::Builder::new()
            .name("zygote-answers".into())
            .spawn(move || listen(&reader, &shared))
            .map_err(|error| failed(&error))?;
        Ok(Self { channel, state, _process: process })
    }

    /// Forks. The descriptors: PID 1 of the sandbox, the child's own five, and the entrances of its control groups.
    pub(crate) async fn fork(
        &self,
        kind: OrderKind,
        order: ForkOrder,
        fds: &[BorrowedFd<'_>],
    ) -> Result<ForkedKernel> {
        let answer = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if state.gone {
                return Err(gone());
            }
            let (sender, receiver) = oneshot::channel();
            let words = order.words(kind);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            // Sent under the lock, so that orders and those who wait for answers keep the same order.
            self.channel.send(&words, fds).map_err(|error| BackendError::Engine(error.to_string()))?;
            state.waiting.push_back(sender);
            receiver
        };
        answer.await.map_err(|_| gone())?
    }
}

impl Zygote {
    /// It has ended, and can fork no more.
    pub(crate) fn is_gone(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).gone
    }
}

impl Drop for Zygote {
    fn drop(&mut self) {
        // The listening thread has a hand on the channel too, so letting go of ours would not close it.
        let _ = rustix::net::shutdown(self.channel.as_fd(), rustix::net::Shutdown::Both);
    }
}

fn gone() -> BackendError {
    BackendError::Engine("the process that sandboxes are forked from is gone".into())
}

/// Runs in a thread of its own until the zygote closes the channel.
fn listen(channel: &Channel, state: &Mutex<State>) {
    while let Ok(Some(message)) = channel.receive() {
        handle(message, &mut state.lock().unwrap_or_else(PoisonError::into_inner));
    }
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    state.gone = true;
    // Dropping the senders wakes everybody who waits.
    state.waiting.clear();
    state.running.clear();
}

fn handle(message: Message, state: &mut State) {
    let pid = message.number(1);
    match (message.words.first().map(String::as_str), pid) {
        (Some("forked"), Ok(pid)) => {
            let (ended, exit) = oneshot::channel();
            state.running.insert(pid, ended);
            if let (Some(waiting), Some(pidfd)) = (state.waiting.pop_front(), message.fds.into_iter().next())
            {
                let _ = waiting.send(Ok(ForkedKernel { pidfd, exit }));
            }
        }
        (Some("exited"), Ok(pid)) => {
            let status = message.words.get(2).and_then(|word| word.parse().ok()).unwrap_or(0);
            if let Some(ended) = state.running.remove(&pid) {
                let _ = ended.send(status);
            }
        }
        _ => {
            let reason = message.words.get(1).cloned().unwrap_or_default();
            if let Some(waiting) = state.waiting.pop_front() {
                let _ = waiting.send(Err(BackendError::Engine(reason)));
            }
        }
    }
}
