//! The processes of a sandbox that were started through its agent.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use sandgate_agent::protocol::{self as wire, FromAgent, Request, Size};
use sandgate_core::{
    BackendError, Input, Joined, ProcessEnd, ProcessEvent, ProcessInfo, ProcessRef, Processes, Result,
    SandboxPath, StartProcess, TerminalSize,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::failure::of_process;
use super::operation::{out_of_turn, patiently};
use super::process::{Ask, ProcessTask};
use super::readers::{EVENTS_AHEAD, Readers};
use super::running::Agent;
use crate::sandbox::EngineSandbox;

/// Where a process starts when nobody says.
const HOME: &str = "/home/user";
/// Processes at once; the sandbox's limit is most often lower.
const MAX_RUNNING: usize = 256;
/// How long, and of how many, an end can still be heard.
const END_IS_KEPT: Duration = Duration::from_secs(30);
const MAX_ENDED: usize = 128;
const MAX_TAG: usize = 256;
/// How long a caller waits for a terminal to have its new size.
const SIZE_IS_TAKEN: Duration = Duration::from_secs(2);
/// What Ctrl-D sends.
const END_OF_TRANSMISSION: &[u8] = &[4];

/// By the order of their start.
#[derive(Debug, Default)]
pub(crate) struct ProcessTable(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    last: u64,
    running: BTreeMap<u64, Arc<Running>>,
    ended: BTreeMap<u64, Ended>,
}

#[derive(Debug)]
struct Running {
    info: ProcessInfo,
    input: Input,
    asks: mpsc::Sender<Ask>,
    agent: Arc<Agent>,
    /// Its standard input or terminal, until it is closed.
    writer: tokio::sync::Mutex<Option<OwnedWriteHalf>>,
    /// Of a terminal: where the agent says that it has a new size.
    resized: tokio::sync::Mutex<Option<OwnedReadHalf>>,
}

impl Running {
    /// Waits until its terminal has this size. False: it has ended.
    async fn resize(&self, sandbox: &EngineSandbox, size: Size) -> Result<bool> {
        let mut resized = self.resized.lock().await;
        let Some(answers) = resized.as_mut() else { return Ok(false) };
        if self.asks.send(Ask::Resize(size)).await.is_err() {
            return Ok(false);
        }
        Ok(patiently(sandbox, &self.agent, answers.read_u8()).await?.is_ok())
    }
}

#[derive(Clone, Debug)]
struct Ended {
    pid: u32,
    tag: Option<String>,
    end: ProcessEnd,
}

fn is_meant(which: &ProcessRef, pid: u32, tag: Option<&str>) -> bool {
    match which {
        ProcessRef::Pid(wanted) => *wanted == pid,
        ProcessRef::Tag(wanted) => tag == Some(wanted),
    }
}

fn no_such(which: &ProcessRef) -> BackendError {
    BackendError::NoSuchProcess(match which {
        ProcessRef::Pid(pid) => pid.to_string(),
        ProcessRef::Tag(tag) => format!("tag '{tag}'"),
    })
}

impl ProcessTable {
    fn lock(&self) -> std::sync::MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lock().running.is_empty()
    }

    fn add(&self, process: Running) -> (u64, Arc<Running>) {
        let (mut table, process) = (self.lock(), Arc::new(process));
        table.last += 1;
        let number = table.last;
        table.running.insert(number, Arc::clone(&process));
        (number, process)
    }

    /// The one that was started last, where several have the same tag.
    fn running(&self, which: &ProcessRef) -> Result<Arc<Running>> {
        let table = self.lock();
        let mut all = table.running.values().rev();
        let found = all.find(|one| is_meant(which, one.info.pid, one.info.tag.as_deref()));
        found.cloned().ok_or_else(|| no_such(which))
    }

    fn ended(&self, which: &ProcessRef) -> Option<Ended> {
        let table = self.lock();
        table.ended.values().rev().find(|one| is_meant(which, one.pid, one.tag.as_deref())).cloned()
    }

    fn has_ended(&self, number: u64, end: Option<&ProcessEnd>) {
        let mut table = self.lock();
        let Some(process) = table.running.remove(&number) else { return };
        if let Some(end) = end {
            let (pid, tag) = (process.info.pid, process.info.tag.clone());
            table.ended.insert(number, Ended { pid, tag, end: end.clone() });
        }
        while table.ended.len() > MAX_ENDED {
            table.ended.pop_first();
        }
    }

    fn forget(&self, number: u64) {
        self.lock().ended.remove(&number);
    }
}

#[derive(Debug)]
pub(crate) struct EngineProcesses(Arc<EngineSandbox>);

impl EngineProcesses {
    pub(crate) fn new(sandbox: Arc<EngineSandbox>) -> Self {
        Self(sandbox)
    }

    fn table(&self) -> &ProcessTable {
        &self.0.processes
    }

    async fn ask(&self, which: &ProcessRef, ask: Ask) -> Result<()> {
        let process = self.table().running(which)?;
        process.asks.send(ask).await.map_err(|_| no_such(which))
    }

    fn request(&self, start: &StartProcess) -> Result<Request> {
        let cwd = match start.cwd.as_deref() {
            None | Some("") => HOME.to_owned(),
            Some(cwd) if cwd.starts_with('/') => SandboxPath::parse(cwd)?.to_string(),
            Some(cwd) => SandboxPath::parse(&format!("{HOME}/{cwd}"))?.to_string(),
        };
        if start.tag.as_ref().is_some_and(|tag| tag.len() > MAX_TAG) {
            return Err(BackendError::Invalid(format!("a tag may have {MAX_TAG} bytes")));
        }
        let bad = |(name, _): &&(String, String)| name.is_empty() || name.contains(['=', '\0']);
        if let Some((name, _)) = start.env.iter().find(bad) {
            return Err(BackendError::Invalid(format!("'{name}' is no name of a variable")));
        }
        Ok(Request::Start {
            program: start.program.clone(),
            args: start.args.clone(),
            env: self.0.environment_with(&start.env),
            cwd,
            input: match start.input {
                Input::Closed => wire::Input::Closed,
                Input::Pipe => wire::Input::Pipe,
                Input::Terminal(size) => wire::Input::Terminal(size_of_terminal(size)),
            },
        })
    }
}

fn size_of_terminal(size: TerminalSize) -> Size {
    Size { columns: size.columns, rows: size.rows }
}

#[async_trait]
impl Processes for EngineProcesses {
    async fn start(&self, start: StartProcess) -> Result<Joined> {
        let request = self.request(&start)?;
        if self.table().lock().running.len() >= MAX_RUNNING {
            return Err(BackendError::Invalid(format!("{MAX_RUNNING} processes run, which is the limit")));
        }
        let agent = self.0.agent().await?;
        let killed_before = self.0.killed_count();
        let with_input = start.input != Input::Closed;
        let (mut connection, writer) = agent.ask(request, with_input).await?;
        let pid = match patiently(&self.0, &agent, connection.next()).await? {
            Ok(Some(FromAgent::Started { pid })) => pid,
            Ok(Some(FromAgent::Failed(failure))) => return Err(of_process(failure)),
            Ok(None) => return Err(agent.lost()),
            Ok(Some(_)) | Err(_) => return Err(out_of_turn()),
        };
        let (asks, asked) = mpsc::channel(EVENTS_AHEAD);
        let (sender, events) = mpsc::channel(EVENTS_AHEAD);
        let StartProcess { program, args, env, cwd, tag, input, timeout: time } = start;
        let info = ProcessInfo { pid, tag, program, args, env, cwd };
        let (resized, writer) = writer.map(UnixStream::into_split).unzip();
        let running = Running {
            info,
            input,
            asks,
            agent: Arc::clone(&agent),
            writer: tokio::sync::Mutex::new(writer),
            resized: tokio::sync::Mutex::new(resized),
        };
        let (number, _) = self.table().add(running);
        let mut readers = Readers::default();
        readers.add(sender);
        let sandbox = Arc::clone(&self.0);
        let task =
            ProcessTask { sandbox, agent, connection, asks: asked, readers, timeout: time, killed_before };
        self.0.spawn(see_to_its_end(task, number));
        self.0.watch_disk();
        Ok(Joined { pid, events })
    }

    async fn join(&self, which: &ProcessRef) -> Result<Joined> {
        let (sender, events) = mpsc::channel(EVENTS_AHEAD);
        if let Ok(process) = self.table().running(which)
            && process.asks.send(Ask::Join(sender.clone())).await.is_ok()
        {
            return Ok(Joined { pid: process.info.pid, events });
        }
        let ended = self.table().ended(which).ok_or_else(|| no_such(which))?;
        let _ = sender.try_send(ProcessEvent::Ended(ended.end));
        Ok(Joined { pid: ended.pid, events })
    }

    async fn list(&self) -> Result<Vec<ProcessInfo>> {
        Ok(self.table().lock().running.values().map(|process| process.info.clone()).collect())
    }

    async fn write(&self, which: &ProcessRef, input: Bytes) -> Result<()> {
        let process = self.table().running(which)?;
        let mut writer = process.writer.lock().await;
        let closed = || BackendError::Invalid("the process has no input, or it was closed".into());
        let stream = writer.as_mut().ok_or_else(closed)?;
        // It may take its time to read; the agent behind it may not be stopped.
        if patiently(&self.0, &process.agent, stream.write_all(&input)).await?.is_err() {
            *writer = None;
            return Err(closed());
        }
        Ok(())
    }

    async fn close_input(&self, which: &ProcessRef) -> Result<()> {
        let process = self.table().running(which)?;
        if let Input::Terminal(_) = process.input {
            return self.write(which, Bytes::from_static(END_OF_TRANSMISSION)).await;
        }
        // Behind what is still being written.
        process.writer.lock().await.take();
        Ok(())
    }

    async fn signal(&self, which: &ProcessRef, signal: i32) -> Result<()> {
        self.ask(which, Ask::Signal(signal)).await
    }

    async fn resize(&self, which: &ProcessRef, size: TerminalSize) -> Result<()> {
        let process = self.table().running(which)?;
        if !matches!(process.input, Input::Terminal(_)) {
            return Err(BackendError::Invalid("the process has no terminal".into()));
        }
        let (done, is_done) = oneshot::channel();
        let sandbox = Arc::clone(&self.0);
        // Beside the caller, who may go away: an answer that nobody reads would be taken for that of the next.
        self.0.spawn(async move {
            let _ = done.send(process.resize(&sandbox, size_of_terminal(size)).await);
        });
        match timeout(SIZE_IS_TAKEN, is_done).await {
            Ok(Ok(Ok(true))) => Ok(()),
            Ok(Ok(Ok(false)) | Err(_)) => Err(no_such(which)),
            Ok(Ok(Err(error))) => Err(error),
            // It stands still, and takes its size when it goes on.
            Err(_elapsed) => Ok(()),
        }
    }
}

/// Runs beside everything else until the process has ended and everybody has heard of it.
async fn see_to_its_end(mut task: ProcessTask, number: u64) {
    let sandbox = Arc::clone(&task.sandbox);
    let end = task.run().await;
    // What it did to files is not the doing of the next execution.
    sandbox.note_change_from_outside();
    sandbox.processes.has_ended(number, end.as_ref());
    // Whoever asked to join in the meantime.
    task.asks.close();
    while let Some(ask) = task.asks.recv().await {
        if let Ask::Join(reader) = ask {
            task.readers.add(reader);
        }
    }
    if let Some(last) = end.map(ProcessEvent::Ended) {
        task.readers.begin(last.clone());
        let gone = task.agent.gone.clone();
        tokio::select! {
            () = task.readers.pass() => {}
            () = gone.cancelled() => task.readers.finish(Some(&last)),
        }
    }
    task.readers.finish(None);
    drop(task);
    tokio::select! {
        () = tokio::time::sleep(END_IS_KEPT) => {}
        () = sandbox.stopped_token().cancelled() => {}
    }
    sandbox.processes.forget(number);
}
