//! One live kernel: its socket, its two output pipes, and a handle on its process.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use rustix::pipe::{PipeFlags, pipe_with};
use sandgate_core::{BackendError, Result};
use sandgate_jail::cgroup::Cgroups;
use sandgate_jail::sys;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::sync::oneshot;

use crate::frame::{FromKernel, Settings, ToKernel, decode};
use crate::shared::blocking;
use crate::zygote::{ForkOrder, ForkedKernel, OrderKind, Zygote};

/// A kernel that has not spoken by then never will.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// Where in the control groups a kernel hangs; None: limits are per process.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) cgroups: Option<Arc<Cgroups>>,
    pub(crate) sandbox: String,
    pub(crate) context: String,
}

/// The parts are apart so that a run can wait on all of them at once.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub(crate) control: Control,
    pub(crate) stdout: pipe::Receiver,
    pub(crate) stderr: pipe::Receiver,
    /// The raw wait status, once it ended.
    pub(crate) exit: oneshot::Receiver<i32>,
    pub(crate) process: Process,
    /// The environment and working directory it was last told.
    told: Option<(Vec<(String, String)>, String)>,
    /// The size files may have, as last told to the process.
    file_bytes: u64,
    max_file_bytes: u64,
    /// Lives as long as its kernels, because only a parent hears how they end.
    _parent: Arc<Zygote>,
}

/// The frames to and from a kernel.
#[derive(Debug)]
pub(crate) struct Control {
    stream: UnixStream,
    buffer: BytesMut,
}

/// The kernel's process and whatever it starts.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pidfd: Arc<OwnedFd>,
    place: Place,
}

/// A pipe of which both the engine and the kernel read. Each has its own open file, or the kernel could
/// switch the engine's to blocking.
fn shared_pipe() -> io::Result<(OwnedFd, OwnedFd, File)> {
    use rustix::fs::{Mode, OFlags, open};
    let (theirs, writer) = pipe_with(PipeFlags::CLOEXEC)?;
    rustix::fs::fcntl_setfl(&theirs, OFlags::NONBLOCK)?;
    let path = format!("/proc/self/fd/{}", theirs.as_raw_fd());
    let ours = open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
    Ok((theirs, writer, File::from(ours)))
}

fn failed(what: &str) -> impl Fn(io::Error) -> BackendError + '_ {
    move |error| BackendError::Engine(format!("{what}: {error}"))
}

impl Kernel {
    /// Forks one into the sandbox whose PID 1 is `init`, waits until it is confined, limited and ready. It goes
    /// under the limits through `groups`, where there are such.
    ///
    /// With `at_once` it is told its environment before it has spoken, and takes it that code follows right
    /// away; without, it uses the time to rehearse.
    pub(crate) async fn start(
        zygote: Arc<Zygote>,
        init: &OwnedFd,
        order: ForkOrder,
        place: Place,
        groups: Vec<OwnedFd>,
        at_once: Option<Settings<'_>>,
    ) -> Result<Self> {
        let setup = failed("making a kernel's descriptors");
        let (ours, theirs) = StdUnixStream::pair().map_err(&setup)?;
        let (out_theirs, out_writer, stdout) = shared_pipe().map_err(&setup)?;
        let (err_theirs, err_writer, stderr) = shared_pipe().map_err(&setup)?;
        let own = [
            init.as_fd(),
            theirs.as_fd(),
            out_writer.as_fd(),
            err_writer.as_fd(),
            out_theirs.as_fd(),
            err_theirs.as_fd(),
        ];
        let fds: Vec<_> = own.into_iter().chain(groups.iter().map(AsFd::as_fd)).collect();
        let ForkedKernel { pidfd, exit } = zygote.fork(OrderKind::Fork, order, &fds).await?;
        // Its end is the kernel's alone from here: with a copy kept, the death of a kernel would go unheard.
        drop(theirs);
        ours.set_nonblocking(true).map_err(&setup)?;
        let stream = UnixStream::from_std(ours).map_err(&setup)?;
        let mut kernel = Self {
            control: Control { stream, buffer: BytesMut::with_capacity(16 * 1024) },
            stdout: pipe::Receiver::from_file(stdout).map_err(&setup)?,
            stderr: pipe::Receiver::from_file(stderr).map_err(&setup)?,
            exit,
            process: Process::new(pidfd, place),
            told: None,
            file_bytes: order.file_bytes,
            max_file_bytes: order.file_bytes,
            _parent: zygote,
        };
        // Meanwhile the kernel confines itself and wakes up in Python.
        let prepared = kernel.prepare(/* attach */ groups.is_empty(), at_once).await;
        match tokio::time::timeout(START_TIMEOUT, kernel.first_word()).await {
            Ok(ready) => ready?,
            Err(_) => return Err(BackendError::Engine("a kernel did not start in time".into())),
        }
        // Only now: of a kernel that died meanwhile, its own last words say more.
        prepared?;
        // No code of a user is sent before it was seen under its limits.
        kernel.process.in_groups(Cgroups::confirm).await?;
        Ok(kernel)
    }

    async fn prepare(&mut self, attach: bool, at_once: Option<Settings<'_>>) -> Result<()> {
        if attach {
            self.process.in_groups(Cgroups::attach).await?;
        }
        match at_once {
            Some(settings) => self.configure(settings).await,
            None => Ok(()),
        }
    }

    async fn first_word(&mut self) -> Result<()> {
        match self.control.next_frame().await {
            Ok(Some(FromKernel::Ready)) => Ok(()),
            Ok(Some(_)) => Err(BackendError::Engine("a kernel spoke out of turn".into())),
            Ok(None) => {
                Err(BackendError::Engine(format!("a kernel could not start: {}", self.last_words().await)))
            }
            Err(error) => Err(error),
        }
    }

    /// Whether its process is gone, or has closed its connection.
    pub(crate) fn has_ended(&mut self) -> bool {
        let runs = matches!(self.exit.try_recv(), Err(oneshot::error::TryRecvError::Empty));
        !runs || self.control.is_closed()
    }

    /// What it wrote to its standard error, for the log of a start that failed.
    async fn last_words(&mut self) -> String {
        let mut text = [0u8; 2000];
        // They were written before it went; but that the pipe has something, this side may have yet to notice.
        let _ = tokio::time::timeout(Duration::from_millis(100), self.stderr.readable()).await;
        let length = self.stderr.try_read(&mut text).unwrap_or(0);
        String::from_utf8_lossy(&text[..length]).trim().to_owned()
    }

    /// How large files may be from here on; 0 when the disk is full. Code could lift it again up to the hard
    /// limit, which stays as it was, so this is for the well-meaning; the others meet the watch.
    pub(crate) fn allow_writing(&mut self, file_bytes: u64) {
        use rustix::process::{Pid, Resource, Rlimit, prlimit};
        if file_bytes == self.file_bytes {
            return;
        }
        let limit = Rlimit { current: Some(file_bytes), maximum: Some(self.max_file_bytes) };
        // No process would mean this one.
        let Some(process) = self.process.host_pid().ok().and_then(Pid::from_raw) else { return };
        if prlimit(Some(process), Resource::Fsize, limit).is_ok() {
            self.file_bytes = file_bytes;
        }
    }

    /// Tells it its environment, unless it has heard just that.
    pub(crate) async fn configure(&mut self, settings: Settings<'_>) -> Result<()> {
        let Settings { env, cwd, .. } = settings;
        if self.told.as_ref().is_some_and(|(told, at)| told == env && at == cwd) {
            return Ok(());
        }
        self.told = Some((env.to_vec(), cwd.to_owned()));
        self.control.send(&ToKernel::Configure(settings)).await
    }
}

impl Control {
    /// The next frame; None when the kernel has closed its end. Safe to cancel.
    pub(crate) async fn next_frame(&mut self) -> Result<Option<FromKernel>> {
        loop {
            if let Some(frame) = self.buffered_frame()? {
                return Ok(Some(frame));
            }
            match self.stream.read_buf(&mut self.buffer).await {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                // A killed process may leave the socket reset rather than closed.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
                Err(error) => return Err(BackendError::Engine(format!("reading from a kernel: {error}"))),
            }
        }
    }

    fn buffered_frame(&mut self) -> Result<Option<FromKernel>> {
        decode(&mut self.buffer)
            .map_err(|error| BackendError::Engine(format!("a kernel broke the protocol: {error}")))
    }

    pub(crate) async fn send(&mut self, message: &ToKernel<'_>) -> Result<()> {
        let frame =
            message.encode().ok_or_else(|| BackendError::Invalid("the code cannot be sent".into()))?;
        self.stream.write_all(&frame).await.map_err(failed("writing to a kernel"))
    }

    /// Whether the other end is gone. What arrives meanwhile is kept.
    fn is_closed(&mut self) -> bool {
        matches!(self.stream.try_read_buf(&mut self.buffer), Ok(0))
    }

    /// What has arrived and makes a whole frame, without waiting.
    pub(crate) fn frame_at_hand(&mut self) -> Result<Option<FromKernel>> {
        loop {
            if let Some(frame) = self.buffered_frame()? {
                return Ok(Some(frame));
            }
            match self.stream.try_read_buf(&mut self.buffer) {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                // The runtime may not have noticed yet what is there: the last words of a process that just
                // died. So they are also read past it.
                Err(_) => {
                    let mut chunk = [0u8; 16 * 1024];
                    match rustix::io::read(&self.stream, &mut chunk) {
                        Ok(length) if length > 0 => self.buffer.extend_from_slice(&chunk[..length]),
                        _ => return Ok(None),
                    }
                }
            }
        }
    }
}

impl Process {
    pub(crate) fn new(pidfd: OwnedFd, place: Place) -> Self {
        Self { pidfd: Arc::new(pidfd), place }
    }

    /// Does something to its place in the control groups, on a thread that may wait for it.
    pub(crate) async fn in_groups(
        &self,
        work: fn(&Cgroups, &str, &str, i32) -> sandgate_jail::cgroup::Result<()>,
    ) -> Result<()> {
        let place = self.place.clone();
        let Some(cgroups) = place.cgroups else { return Ok(()) };
        let pid = self.host_pid()?;
        let done = blocking(move || work(&cgroups, &place.sandbox, &place.context, pid)).await?;
        done.map_err(|error| BackendError::Engine(error.to_string()))
    }

    /// As Ctrl-C at a terminal: to the kernel and to the children in its process group.
    pub(crate) fn interrupt(&self) {
        if sys::signal_group(self.pidfd.as_fd(), libc::SIGINT).is_ok() {
            return;
        }
        // Before Linux 6.9, one by one; without control groups the kernel alone, as no number of a process is
        // sure to mean the same one a moment later.
        let Place { cgroups, sandbox, context } = &self.place;
        if let Some(cgroups) = cgroups
            && let Ok(leader) = self.host_pid()
            && cgroups.signal_group(sandbox, context, leader, libc::SIGINT).is_ok()
        {
            return;
        }
        let _ = sys::send_signal(self.pidfd.as_fd(), libc::SIGINT);
    }

    /// Wakes the kernel from a system call it entered just after an interrupt came, when Python had no chance
    /// to see it. Does nothing else: the kernel handles this signal with nothing.
    pub(crate) fn nudge(&self) {
        let _ = sys::send_signal(self.pidfd.as_fd(), libc::SIGURG);
    }

    /// Ends it and everything it started. Blocks for a moment.
    pub(crate) fn kill(&self) {
        let _ = sys::send_signal(self.pidfd.as_fd(), libc::SIGKILL);
        if let Some(cgroups) = &self.place.cgroups
            && let Err(error) = cgroups.kill_context(&self.place.sandbox, &self.place.context)
        {
            tracing::warn!(sandbox = self.place.sandbox, %error, "processes of a context could not be ended");
        }
    }

    /// The process's number as this process sees it.
    pub(crate) fn host_pid(&self) -> Result<i32> {
        let path = format!("/proc/self/fdinfo/{}", self.pidfd.as_raw_fd());
        let info = std::fs::read_to_string(&path).map_err(failed("looking at a kernel's process"))?;
        let pid = info.lines().find_map(|line| line.strip_prefix("Pid:")?.trim().parse().ok());
        match pid {
            Some(pid) if pid > 0 => Ok(pid),
            _ => Err(BackendError::Engine("a kernel ended before it was ready".into())),
        }
    }
}
