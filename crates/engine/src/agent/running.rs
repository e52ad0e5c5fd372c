//! One agent: how it starts, how it is asked for something, how it ends.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::pipe::{PipeFlags, pipe_with};
use sandgate_agent::protocol::{MAX_TO_AGENT, OPERATION, READY, Request, ToAgent};
use sandgate_core::{BackendError, Result};
use sandgate_jail::program::Program;
use sandgate_jail::sys;
use tokio::io::{AsyncWriteExt, Interest};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use super::connection::Connection;
use crate::helper::ZYGOTE_FOLDER;
use crate::kernel::Process;
use crate::kernel_files::AGENT_NAME;
use crate::plain_start::{PlainProcess, Streams};
use crate::sandbox::EngineSandbox;
use crate::shared::{Shared, blocking};

/// The leaf of the agent and of what it starts. No context can have this name: theirs begin otherwise.
pub(crate) const GROUP: &str = "agent";
/// One that has not spoken by then never will.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// How long it may take to take a request. It does little else.
const TAKE_TIMEOUT: Duration = Duration::from_secs(20);

/// Where a sandbox keeps its agent.
#[derive(Debug, Default)]
pub(crate) struct AgentSlot(tokio::sync::Mutex<Option<Arc<Agent>>>);

#[derive(Debug)]
pub(crate) struct Agent {
    channel: UnixStream,
    process: Process,
    /// It has ended, and with it all that it started.
    pub(super) gone: CancellationToken,
    /// Why it was ended, where the server did that.
    why: Mutex<Option<String>>,
    ended: OnceCell<Result<()>>,
}

fn failed(what: &str, error: &dyn std::fmt::Display) -> BackendError {
    BackendError::Engine(format!("{what}: {error}"))
}

impl AgentSlot {
    /// The one that runs, or a new one.
    pub(crate) async fn get(&self, sandbox: &EngineSandbox) -> Result<Arc<Agent>> {
        let mut slot = self.0.lock().await;
        if let Some(agent) = &*slot
            && !agent.gone.is_cancelled()
        {
            return Ok(Arc::clone(agent));
        }
        let agent = Agent::start(sandbox).await?;
        *slot = Some(Arc::clone(&agent));
        Ok(agent)
    }

    /// The one that runs, if one does.
    pub(crate) async fn running(&self) -> Option<Arc<Agent>> {
        self.0.lock().await.clone().filter(|agent| !agent.gone.is_cancelled())
    }

    /// How many processes an idle agent is.
    pub(crate) fn count(&self) -> u64 {
        self.0.try_lock().is_ok_and(|slot| slot.is_some()).into()
    }
}

impl Agent {
    async fn start(sandbox: &EngineSandbox) -> Result<Arc<Self>> {
        let setup = |error: &dyn std::fmt::Display| failed("making the agent's descriptors", error);
        let (ours, theirs) = StdUnixStream::pair().map_err(|error| setup(&error))?;
        ours.set_nonblocking(true).map_err(|error| setup(&error))?;
        let (last_words, writer) = pipe_with(PipeFlags::CLOEXEC).map_err(|error| setup(&error))?;
        let null = || sys::open_null().map_err(|error| setup(&error));
        let streams = Streams { stdin: null()?, stdout: null()?, stderr: writer, control: theirs.into() };
        let program = Program {
            folder: "/".to_owned(),
            arguments: vec![format!("{ZYGOTE_FOLDER}/{AGENT_NAME}")],
            environment: Vec::new(),
        };
        let PlainProcess { process, exit, parent } = sandbox.start_program(GROUP, &program, streams).await?;
        let channel = UnixStream::from_std(ours).map_err(|error| setup(&error))?;
        let gone = CancellationToken::new();
        let agent = Arc::new(Self { channel, process, gone, why: Mutex::default(), ended: OnceCell::new() });
        let started = PlainProcess { process: agent.process.clone(), exit, parent };
        match tokio::time::timeout(START_TIMEOUT, agent.first_word()).await {
            Ok(true) => {}
            Ok(false) | Err(_) => {
                let said = said_last(last_words).await;
                agent.end("it did not start").await;
                return Err(BackendError::Engine(format!("the agent of a sandbox could not start: {said}")));
            }
        }
        // Nothing is asked of it before it was seen under its limits.
        if let Err(error) = started.confirm().await {
            agent.end("it is not under its limits").await;
            return Err(error);
        }
        let PlainProcess { exit, parent, .. } = started;
        let (watched, shared) = (Arc::clone(&agent), Arc::clone(sandbox.shared()));
        shared.tasks.spawn(async move {
            let _ = exit.await;
            watched.end("").await;
            drop(parent);
        });
        Ok(agent)
    }

    /// Whether it is the right one. A plain read, by which no descriptor can come out.
    async fn first_word(&self) -> bool {
        let mut word = [0u8; READY.len()];
        let read = || Ok(rustix::io::read(&self.channel, &mut word)?);
        let length = self.channel.async_io(Interest::READABLE, read).await.unwrap_or(0);
        &word[..length] == READY
    }

    /// Opens an operation; `with_input` gives it a second way in, for bytes.
    pub(super) async fn ask(
        self: &Arc<Self>,
        request: Request,
        with_input: bool,
    ) -> Result<(Connection, Option<UnixStream>)> {
        let frame = ToAgent::Request(Box::new(request)).encode();
        if frame.len() > MAX_TO_AGENT {
            return Err(BackendError::Invalid("the request is too long".into()));
        }
        let pair = || -> std::io::Result<(UnixStream, StdUnixStream)> {
            let (ours, theirs) = StdUnixStream::pair()?;
            ours.set_nonblocking(true)?;
            Ok((UnixStream::from_std(ours)?, theirs))
        };
        let made = |error: std::io::Error| failed("making a connection to the agent", &error);
        let (mut ours, theirs) = pair().map_err(made)?;
        let (input, their_input) = if with_input { Some(pair().map_err(made)?) } else { None }.unzip();
        let told = async {
            self.send(&theirs, their_input.as_ref()).await?;
            drop((theirs, their_input));
            ours.write_all(&frame).await.map_err(|error| failed("asking the agent", &error))
        };
        tokio::select! {
            told = tokio::time::timeout(TAKE_TIMEOUT, told) => match told {
                Ok(told) => told?,
                Err(_) => {
                    self.end("it did not answer").await;
                    return Err(self.lost());
                }
            },
            () = self.gone.cancelled() => return Err(self.lost()),
        }
        Ok((Connection::new(ours), input))
    }

    async fn send(&self, theirs: &StdUnixStream, input: Option<&StdUnixStream>) -> Result<()> {
        let fds: Vec<_> = [theirs.as_fd()].into_iter().chain(input.map(AsFd::as_fd)).collect();
        let send = || {
            sys::send_message(self.channel.as_fd(), OPERATION, &fds)
                .map_err(|error| io::Error::from_raw_os_error(error.errno().unwrap_or(libc::EIO)))
        };
        match self.channel.async_io(Interest::WRITABLE, send).await {
            Ok(()) => Ok(()),
            Err(error) if is_broken(&error) => Err(self.lost()),
            Err(error) => Err(failed("asking the agent", &error)),
        }
    }

    /// What to say when it went away in the middle.
    pub(super) fn lost(&self) -> BackendError {
        BackendError::Engine(format!("{}; try again", self.why_gone()))
    }

    pub(super) fn why_gone(&self) -> String {
        let why = self.why.lock().unwrap_or_else(PoisonError::into_inner).clone();
        why.unwrap_or_else(|| {
            "the process that serves commands and files in the sandbox was killed".to_owned()
        })
    }

    /// Ends it and whatever it started. Once: its group is its successor's after that. And to the end, whoever
    /// stops waiting for it.
    pub(super) async fn end(self: &Arc<Self>, why: &str) {
        if !why.is_empty() {
            self.why.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| why.to_owned());
        }
        let ending = Arc::clone(self);
        let _ = tokio::spawn(async move {
            let process = ending.process.clone();
            let _ = ending.ended.get_or_init(|| blocking(move || process.kill())).await;
            ending.gone.cancel();
        })
        .await;
    }
}

fn is_broken(error: &io::Error) -> bool {
    use io::ErrorKind;
    matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset | ErrorKind::NotConnected)
}

async fn said_last(reader: OwnedFd) -> String {
    let Ok(reader) = pipe::Receiver::from_owned_fd(reader) else { return String::new() };
    let mut text = [0u8; 1000];
    let _ = tokio::time::timeout(Duration::from_millis(100), reader.readable()).await;
    let length = reader.try_read(&mut text).unwrap_or(0);
    String::from_utf8_lossy(&text[..length]).trim().to_owned()
}

impl EngineSandbox {
    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }
}
