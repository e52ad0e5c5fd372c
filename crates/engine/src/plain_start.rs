//! Starting any program in a sandbox, confined and limited like everything there: the zygote forks, and the child
//! becomes the program once it is confined. The agent is started so.

use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use sandgate_core::{BackendError, Result};
use sandgate_jail::cgroup::Cgroups;
use sandgate_jail::program::Program;
use tokio::sync::oneshot;

use crate::kernel::{Place, Process};
use crate::sealed::sealed;
use crate::zygote::{ForkOrder, ForkedKernel, OrderKind, Zygote};

/// What the program finds at 0, 1, 2 and 3.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) stdin: OwnedFd,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
    pub(crate) control: OwnedFd,
}

/// A program that was started. It is to be trusted with nothing before [`Self::confirm`].
#[derive(Debug)]
pub(crate) struct PlainProcess {
    pub(crate) process: Process,
    /// The raw wait status, once it ended.
    pub(crate) exit: oneshot::Receiver<i32>,
    /// Lives as long as its children, because only a parent hears how they end.
    pub(crate) parent: Arc<Zygote>,
}

impl PlainProcess {
    /// Forks it into the sandbox whose PID 1 is `init`. It goes under the limits through `groups`, where there
    /// are such.
    pub(crate) async fn start(
        zygote: Arc<Zygote>,
        init: &OwnedFd,
        order: ForkOrder,
        place: Place,
        groups: Vec<OwnedFd>,
        program: &Program,
        streams: Streams,
    ) -> Result<Self> {
        let description = describe(program)?;
        let Streams { stdin, stdout, stderr, control } = streams;
        let own = [
            init.as_fd(),
            control.as_fd(),
            stdout.as_fd(),
            stderr.as_fd(),
            stdin.as_fd(),
            description.as_fd(),
        ];
        let fds: Vec<_> = own.into_iter().chain(groups.iter().map(AsFd::as_fd)).collect();
        let ForkedKernel { pidfd, exit } = zygote.fork(OrderKind::Exec, order, &fds).await?;
        let started = Self { process: Process::new(pidfd, place), exit, parent: zygote };
        if groups.is_empty() {
            started.process.in_groups(Cgroups::attach).await?;
        }
        Ok(started)
    }

    /// Sees it under its limits; to be asked once it has spoken, as it enters them before it becomes the program.
    pub(crate) async fn confirm(&self) -> Result<()> {
        self.process.in_groups(Cgroups::confirm).await
    }
}

/// In memory, and not to be changed by whoever gets it.
fn describe(program: &Program) -> Result<OwnedFd> {
    let failed = |error: std::io::Error| BackendError::Engine(format!("describing a program: {error}"));
    let bytes = program
        .encode()
        .ok_or_else(|| BackendError::Invalid("a program's words cannot hold a NUL byte".into()))?;
    sealed("program", |file| file.write_all(&bytes)).map_err(failed)
}
