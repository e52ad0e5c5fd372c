//! Commands and terminals inside a sandbox: what runs beside its interpreters, and outlives whoever started it.

use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use crate::Result;

/// The processes that were started through this, not those that code started by itself.
#[async_trait]
pub trait Processes: Send + Sync + Debug {
    /// Starts one and joins it.
    async fn start(&self, start: StartProcess) -> Result<Joined>;
    /// What it says from here on, and its end. One that has ended can be joined for a little while longer:
    /// its end is then all there is.
    async fn join(&self, which: &ProcessRef) -> Result<Joined>;
    /// Those that run, in the order of their start.
    async fn list(&self) -> Result<Vec<ProcessInfo>>;
    /// Writes to its standard input or terminal; waits while it does not read.
    async fn write(&self, which: &ProcessRef, input: Bytes) -> Result<()>;
    /// The end of its standard input; for a terminal, what Ctrl-D sends.
    async fn close_input(&self, which: &ProcessRef) -> Result<()>;
    /// To the process and to those in its group.
    async fn signal(&self, which: &ProcessRef, signal: i32) -> Result<()>;
    /// What is written after it finds the terminal in its new size.
    async fn resize(&self, which: &ProcessRef, size: TerminalSize) -> Result<()>;
}

#[derive(Clone, Debug, Default)]
pub struct StartProcess {
    /// Looked for on the PATH, unless it has a slash.
    pub program: String,
    pub args: Vec<String>,
    /// On top of the sandbox's own.
    pub env: Vec<(String, String)>,
    /// None: the user's home.
    pub cwd: Option<String>,
    /// A name of the client's to find it by.
    pub tag: Option<String>,
    pub input: Input,
    /// Killed when it has run for so long; None: it may run for as long as the sandbox does.
    pub timeout: Option<Duration>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Input {
    /// Nothing: an end of file at once.
    #[default]
    Closed,
    Pipe,
    /// A terminal of this size for input, output and errors.
    Terminal(TerminalSize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalSize {
    pub columns: u16,
    pub rows: u16,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessRef {
    /// Its number as the sandbox sees it.
    Pid(u32),
    Tag(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProcessInfo {
    pub pid: u32,
    pub tag: Option<String>,
    pub program: String,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub cwd: Option<String>,
}

/// A hand on a process. Letting go of it does not end the process; a reader who is slow slows it down,
/// one who is gone does not.
#[derive(Debug)]
pub struct Joined {
    pub pid: u32,
    /// Ends after [`ProcessEvent::Ended`]; without one, the sandbox went away.
    pub events: mpsc::Receiver<ProcessEvent>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessEvent {
    Stdout(Bytes),
    Stderr(Bytes),
    Terminal(Bytes),
    /// Always the last.
    Ended(ProcessEnd),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessEnd {
    Exited {
        code: i32,
    },
    /// Killed by a signal, with a word on why when it was a limit.
    Signalled {
        signal: i32,
        reason: Option<String>,
    },
    /// It ran for longer than it might, and was killed.
    TimedOut,
}
