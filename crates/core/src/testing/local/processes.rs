//! Its processes: ordinary ones, in a group of their own. A terminal is a pipe here.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::{Mutex as AsyncMutex, mpsc};

use super::lock;
use crate::{
    BackendError, Input, Joined, ProcessEnd, ProcessEvent, ProcessInfo, ProcessRef, Processes, Result,
    StartProcess, TerminalSize,
};

#[derive(Debug)]
pub(super) struct LocalProcesses {
    root: PathBuf,
    env: Vec<(String, String)>,
    all: Mutex<BTreeMap<u32, Arc<Process>>>,
}

#[derive(Debug)]
struct Process {
    info: ProcessInfo,
    is_terminal: bool,
    input: AsyncMutex<Option<ChildStdin>>,
    /// None after its end.
    readers: Mutex<Option<Vec<mpsc::Sender<ProcessEvent>>>>,
    end: Mutex<Option<ProcessEnd>>,
}

impl Process {
    fn join(&self) -> Joined {
        let (sender, events) = mpsc::channel(8);
        match &mut *lock(&self.readers) {
            Some(readers) => readers.push(sender),
            None => {
                if let Some(end) = lock(&self.end).clone() {
                    let _ = sender.try_send(ProcessEvent::Ended(end));
                }
            }
        }
        Joined { pid: self.info.pid, events }
    }

    async fn tell(&self, event: ProcessEvent) {
        let readers = lock(&self.readers).clone().unwrap_or_default();
        for reader in readers {
            let _ = reader.send(event.clone()).await;
        }
    }

    async fn pump(&self, mut from: impl AsyncRead + Unpin, event: fn(Bytes) -> ProcessEvent) {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count @ 1..) = from.read(&mut buffer).await {
            self.tell(event(Bytes::copy_from_slice(&buffer[..count]))).await;
        }
    }

    async fn watch(&self, mut child: Child, timeout: Option<std::time::Duration>) {
        let (out, err) = (child.stdout.take(), child.stderr.take());
        type Said = fn(Bytes) -> ProcessEvent;
        let (to_out, to_err): (Said, Said) = if self.is_terminal {
            (ProcessEvent::Terminal, ProcessEvent::Terminal)
        } else {
            (ProcessEvent::Stdout, ProcessEvent::Stderr)
        };
        let pumped = async {
            tokio::join!(
                async {
                    if let Some(out) = out {
                        self.pump(out, to_out).await;
                    }
                },
                async {
                    if let Some(err) = err {
                        self.pump(err, to_err).await;
                    }
                }
            )
        };
        let in_time = match timeout {
            Some(timeout) => tokio::time::timeout(timeout, pumped).await.is_ok(),
            None => {
                pumped.await;
                true
            }
        };
        if !in_time {
            let _ = signal_group(self.info.pid, 9).await;
        }
        let end = match child.wait().await {
            _ if !in_time => ProcessEnd::TimedOut,
            Ok(status) => match (status.code(), status.signal()) {
                (Some(code), _) => ProcessEnd::Exited { code },
                (None, signal) => ProcessEnd::Signalled { signal: signal.unwrap_or_default(), reason: None },
            },
            Err(_) => ProcessEnd::Exited { code: -1 },
        };
        self.tell(ProcessEvent::Ended(end.clone())).await;
        *lock(&self.end) = Some(end);
        *lock(&self.readers) = None;
    }
}

async fn signal_group(pid: u32, signal: i32) -> io::Result<()> {
    let group = [format!("-{signal}"), "--".to_owned(), format!("-{pid}")];
    Command::new("/bin/kill").args(group).stderr(Stdio::null()).status().await.map(drop)
}

impl LocalProcesses {
    pub(super) fn new(root: PathBuf, env: Vec<(String, String)>) -> Self {
        Self { root, env, all: Mutex::default() }
    }

    /// Whoever listens hears no end: the sandbox went away.
    pub(super) fn end(&self) {
        for (pid, process) in std::mem::take(&mut *lock(&self.all)) {
            *lock(&process.readers) = None;
            tokio::spawn(signal_group(pid, 9));
        }
    }

    fn find(&self, which: &ProcessRef) -> Result<Arc<Process>> {
        let all = lock(&self.all);
        let found = match which {
            ProcessRef::Pid(pid) => all.get(pid),
            ProcessRef::Tag(tag) => all.values().find(|process| process.info.tag.as_ref() == Some(tag)),
        };
        found.cloned().ok_or_else(|| BackendError::NoSuchProcess(format!("{which:?}")))
    }

    fn running(&self, which: &ProcessRef) -> Result<Arc<Process>> {
        let process = self.find(which)?;
        if lock(&process.end).is_some() {
            return Err(BackendError::NoSuchProcess(format!("{which:?}")));
        }
        Ok(process)
    }
}

#[async_trait]
impl Processes for LocalProcesses {
    async fn start(&self, start: StartProcess) -> Result<Joined> {
        let cwd = start.cwd.as_deref().unwrap_or("/home/user").trim_start_matches('/');
        let mut command = Command::new(&start.program);
        command.args(&start.args).current_dir(self.root.join(cwd)).process_group(0).kill_on_drop(true);
        command.envs(self.env.iter().cloned()).envs(start.env.iter().cloned());
        command.stdin(if start.input == Input::Closed { Stdio::null() } else { Stdio::piped() });
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(|error| {
                BackendError::File { path: start.program.clone(), reason: error.to_string() }
            })?;
        let pid = child.id().unwrap_or_default();
        let info = ProcessInfo {
            pid,
            tag: start.tag,
            program: start.program,
            args: start.args,
            env: start.env,
            cwd: start.cwd,
        };
        let process = Arc::new(Process {
            info,
            is_terminal: matches!(start.input, Input::Terminal(_)),
            input: AsyncMutex::new(child.stdin.take()),
            readers: Mutex::new(Some(Vec::new())),
            end: Mutex::default(),
        });
        let joined = process.join();
        lock(&self.all).insert(pid, Arc::clone(&process));
        tokio::spawn(async move { process.watch(child, start.timeout).await });
        Ok(joined)
    }

    async fn join(&self, which: &ProcessRef) -> Result<Joined> {
        Ok(self.find(which)?.join())
    }

    async fn list(&self) -> Result<Vec<ProcessInfo>> {
        let running = |process: &&Arc<Process>| lock(&process.end).is_none();
        Ok(lock(&self.all).values().filter(running).map(|process| process.info.clone()).collect())
    }

    async fn write(&self, which: &ProcessRef, input: Bytes) -> Result<()> {
        let process = self.running(which)?;
        let mut open = process.input.lock().await;
        let Some(stdin) = &mut *open else {
            return Err(BackendError::Invalid("its input is closed".to_owned()));
        };
        stdin.write_all(&input).await.map_err(|error| BackendError::Invalid(error.to_string()))
    }

    async fn close_input(&self, which: &ProcessRef) -> Result<()> {
        *self.running(which)?.input.lock().await = None;
        Ok(())
    }

    async fn signal(&self, which: &ProcessRef, signal: i32) -> Result<()> {
        let pid = self.running(which)?.info.pid;
        signal_group(pid, signal).await.map_err(|error| BackendError::Engine(error.to_string()))
    }

    async fn resize(&self, which: &ProcessRef, size: TerminalSize) -> Result<()> {
        let process = self.running(which)?;
        if !process.is_terminal {
            return Err(BackendError::Invalid("it has no terminal".to_owned()));
        }
        let told = format!("[{}x{}]", size.columns, size.rows);
        process.tell(ProcessEvent::Terminal(told.into())).await;
        Ok(())
    }
}
