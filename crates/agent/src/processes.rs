//! A command or a terminal session, from its start to its end.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::rc::Rc;

use bytes::Bytes;
use sandgate_agent::protocol::{
    End, FailureKind, FromAgent, Input, OUTPUT_CHUNK, RESIZED, TERMINAL_CHUNK, ToAgent,
};
use sandgate_jail::sys;
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf, pipe};
use tokio::task::{JoinHandle, spawn_local};

use crate::connection::{Incoming, Outgoing, failure, stream};
use crate::registered::registered;
use crate::terminal::{self, Terminal};

#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) program: String,
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) cwd: String,
    pub(crate) input: Input,
}

/// The server's side of its streams.
#[derive(Debug)]
enum Streams {
    Pipes { stdout: pipe::Receiver, stderr: pipe::Receiver },
    Terminal(Rc<Terminal>),
}

/// A process that this one waits for.
#[derive(Debug)]
struct Running {
    child: Child,
    exit: AsyncFd<OwnedFd>,
    /// Its group, as long as nobody else can have the number.
    group: Rc<Cell<Option<i32>>>,
    streams: Streams,
}

/// Starts it, says so, passes on its output and its end. It outlives the server's interest in it, not the server.
pub(crate) async fn run(start: Start, input: Option<OwnedFd>, incoming: Incoming, mut outgoing: Outgoing) {
    let (mut running, pipe) = match spawn(&start) {
        Ok(started) => started,
        Err((kind, text)) => return outgoing.fail(kind, text).await,
    };
    let terminal = match &running.streams {
        Streams::Terminal(terminal) => Some(Rc::clone(terminal)),
        Streams::Pipes { .. } => None,
    };
    let (input, resized) = match input.map(stream) {
        Some(Ok(both)) => {
            let (input, resized) = both.into_split();
            (Some(input), Some(resized))
        }
        Some(Err(_)) | None => (None, None),
    };
    let mut helpers = vec![spawn_local(obey(incoming, Rc::clone(&running.group), terminal.clone(), resized))];
    if let Some(input) = input {
        helpers.push(spawn_local(feed(input, pipe, terminal)));
    }
    let said = outgoing.say(&FromAgent::Started { pid: running.child.id() }).await;
    let heard = match said {
        Ok(()) => running.pass_on(&mut outgoing).await,
        Err(error) => Err(error),
    };
    match heard {
        Ok(status) => {
            let _ = outgoing.say(&FromAgent::Ended(end(status))).await;
        }
        // Nobody is there to hear of it ever again.
        Err(_) => running.kill(),
    }
    helpers.iter().for_each(JoinHandle::abort);
}

fn end(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code),
        (None, signal) => End::Signalled(signal.unwrap_or(libc::SIGKILL)),
    }
}

fn spawn(start: &Start) -> Result<(Running, Option<pipe::Sender>), (FailureKind, String)> {
    if !Path::new(&start.cwd).is_dir() {
        return Err((FailureKind::Invalid, format!("cwd '{}' does not exist", start.cwd)));
    }
    let failed = |error: io::Error| {
        let failure = failure(&error);
        (failure.kind, format!("starting a process: {}", failure.text))
    };
    let mut command = Command::new(&start.program);
    command.args(&start.args).env_clear().envs(start.env.iter().cloned()).current_dir(&start.cwd);
    let terminal = match start.input {
        Input::Terminal(size) => {
            let (terminal, inner) = terminal::make(size).map_err(failed)?;
            let again = || inner.try_clone().map(Stdio::from).map_err(failed);
            command.stdin(again()?).stdout(again()?).stderr(again()?);
            Some(terminal)
        }
        Input::Pipe => {
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            None
        }
        Input::Closed => {
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            None
        }
    };
    let has_terminal = terminal.is_some();
    // SAFETY: between fork and exec, system calls alone.
    unsafe {
        command.pre_exec(move || {
            sys::default_signal(libc::SIGXFSZ);
            sys::new_session().map_err(|error| io::Error::from_raw_os_error(error.errno().unwrap_or(0)))?;
            if has_terminal { terminal::take_as_own() } else { Ok(()) }
        });
    }
    let mut child = command.spawn().map_err(|error| not_started(&start.program, &error))?;
    let taken = take_streams(&mut child, terminal);
    let watched = sys::pidfd_open(child.id().cast_signed())
        .map_err(|error| io::Error::from_raw_os_error(error.errno().unwrap_or(0)))
        .and_then(registered);
    match (taken, watched) {
        (Ok((streams, pipe)), Ok(exit)) => {
            let group = Rc::new(Cell::new(Some(child.id().cast_signed())));
            Ok((Running { child, exit, group, streams }, pipe))
        }
        (Err(error), _) | (_, Err(error)) => {
            let _ = child.kill();
            let _ = child.wait();
            Err(failed(error))
        }
    }
}

fn not_started(program: &str, error: &io::Error) -> (FailureKind, String) {
    let kind = match failure(error).kind {
        FailureKind::Busy => FailureKind::Busy,
        _ => FailureKind::Invalid,
    };
    let why = match error.raw_os_error() {
        Some(libc::ENOENT) => "no such file or directory".to_owned(),
        Some(libc::EACCES) => "permission denied".to_owned(),
        Some(libc::ENOEXEC) => "exec format error".to_owned(),
        Some(libc::E2BIG) => "argument list too long".to_owned(),
        Some(libc::EAGAIN) => "too many processes".to_owned(),
        _ => error.to_string(),
    };
    (kind, format!("cannot start '{program}': {why}"))
}

fn take_streams(
    child: &mut Child,
    terminal: Option<Terminal>,
) -> io::Result<(Streams, Option<pipe::Sender>)> {
    let missing = || io::Error::other("a stream is missing");
    let input = match child.stdin.take() {
        Some(stdin) => Some(pipe::Sender::from_owned_fd(stdin.into())?),
        None => None,
    };
    let streams = match terminal {
        Some(terminal) => Streams::Terminal(Rc::new(terminal)),
        None => {
            let stdout = child.stdout.take().ok_or_else(missing)?;
            let stderr = child.stderr.take().ok_or_else(missing)?;
            Streams::Pipes {
                stdout: pipe::Receiver::from_owned_fd(stdout.into())?,
                stderr: pipe::Receiver::from_owned_fd(stderr.into())?,
            }
        }
    };
    Ok((streams, input))
}

/// Signals and sizes. Never waits for anything else, so that a process that neither reads nor writes can be ended.
async fn obey(
    mut incoming: Incoming,
    group: Rc<Cell<Option<i32>>>,
    terminal: Option<Rc<Terminal>>,
    mut resized: Option<OwnedWriteHalf>,
) {
    while let Some(said) = incoming.next().await {
        match (said, group.get(), &terminal) {
            (ToAgent::Signal(signal), Some(group), _) => send(group, signal),
            (ToAgent::Resize(size), _, Some(terminal)) => {
                terminal.resize(size);
                // The server waits for this one byte, so it never fills the socket.
                if let Some(resized) = &mut resized {
                    let _ = resized.write_all(RESIZED).await;
                }
            }
            _ => {}
        }
    }
}

fn send(group: i32, signal: i32) {
    // SAFETY: takes numbers; the process is ours and not reaped, so its number is nobody else's.
    unsafe { libc::kill(-group, signal) };
}

/// Bytes for its standard input, as fast as it reads them. The end of the connection is the end of the input.
async fn feed(mut input: OwnedReadHalf, pipe: Option<pipe::Sender>, terminal: Option<Rc<Terminal>>) {
    let mut buffer = vec![0; OUTPUT_CHUNK];
    let mut pipe = pipe;
    while let Ok(length @ 1..) = input.read(&mut buffer).await {
        let bytes = &buffer[..length];
        let written = match (&mut pipe, &terminal) {
            (Some(pipe), _) => pipe.write_all(bytes).await,
            (None, Some(terminal)) => terminal.write_all(bytes).await,
            (None, None) => return,
        };
        if written.is_err() {
            return;
        }
    }
}

impl Running {
    /// Until it ends. An error: the server is gone.
    async fn pass_on(&mut self, outgoing: &mut Outgoing) -> io::Result<ExitStatus> {
        let Self { child, exit, group, streams } = self;
        match streams {
            Streams::Terminal(terminal) => {
                let mut buffer = vec![0; TERMINAL_CHUNK];
                let mut open = true;
                loop {
                    tokio::select! {
                        read = terminal.read(&mut buffer), if open => match read {
                            Ok(length @ 1..) => outgoing.say(&FromAgent::Terminal(copy(&buffer[..length]))).await?,
                            Ok(0) | Err(_) => open = false,
                        },
                        ended = exit.readable() => { drop(ended?); break }
                    }
                }
                // What it wrote before its end; a process it left behind may go on writing.
                for _ in 0..LAST_CHUNKS {
                    match terminal.read_now(&mut buffer) {
                        Ok(length @ 1..) => {
                            outgoing.say(&FromAgent::Terminal(copy(&buffer[..length]))).await?
                        }
                        Ok(0) | Err(_) => break,
                    }
                }
            }
            Streams::Pipes { stdout, stderr } => {
                let (mut out, mut err) = (vec![0; OUTPUT_CHUNK], vec![0; OUTPUT_CHUNK]);
                let (mut out_open, mut err_open) = (true, true);
                loop {
                    tokio::select! {
                        read = stdout.read(&mut out), if out_open => match read {
                            Ok(length @ 1..) => outgoing.say(&FromAgent::Stdout(copy(&out[..length]))).await?,
                            Ok(0) | Err(_) => out_open = false,
                        },
                        read = stderr.read(&mut err), if err_open => match read {
                            Ok(length @ 1..) => outgoing.say(&FromAgent::Stderr(copy(&err[..length]))).await?,
                            Ok(0) | Err(_) => err_open = false,
                        },
                        ended = exit.readable() => { drop(ended?); break }
                    }
                }
                for (kind, pipe) in
                    [(FromAgent::Stdout as fn(Bytes) -> FromAgent, &*stdout), (FromAgent::Stderr, &*stderr)]
                {
                    let mut left = rustix::io::ioctl_fionread(pipe.as_fd()).unwrap_or(0);
                    while left > 0 {
                        match rustix::io::read(pipe.as_fd(), &mut out) {
                            Ok(length @ 1..) => {
                                left = left.saturating_sub(length as u64);
                                outgoing.say(&kind(copy(&out[..length]))).await?;
                            }
                            Ok(0) | Err(_) => break,
                        }
                    }
                }
            }
        }
        // From here on its number may be somebody else's.
        group.set(None);
        child.wait()
    }

    fn kill(&mut self) {
        if let Some(group) = self.group.take() {
            send(group, libc::SIGKILL);
        }
        let _ = self.child.wait();
    }
}

/// As many as the largest pipe or terminal holds, and more.
const LAST_CHUNKS: usize = 16;

fn copy(bytes: &[u8]) -> Bytes {
    Bytes::copy_from_slice(bytes)
}
