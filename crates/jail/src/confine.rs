//! The last steps of a process before it runs code nobody trusts, in the one order that works.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use crate::{Filters, INNER_USER, Layers, Result, landlock, sys};

/// Bounds the process sets on itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelfLimits {
    pub open_files: u64,
    pub file_bytes: u64,
    /// 0: cgroups do it. Otherwise the last resort where there are none.
    pub address_space: u64,
    pub processes: u64,
}

/// One irreversible step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Puts itself under the sandbox's limits and closes the way in. First: whatever it uses from here on is
    /// the sandbox's.
    EnterGroups,
    /// Joins the sandbox's user, mount, network, ipc, host name and cgroup namespaces. Before what
    /// follows, which is meant for inside. The PID namespace was chosen before the fork.
    JoinNamespaces,
    /// Away from any terminal and into a process group of its own, which interrupts are sent to.
    NewSession,
    /// Needs the capabilities the user namespace gave; so before they go.
    BecomeInnerUser,
    LimitResources(SelfLimits),
    /// Before the filter, which would refuse nothing here, but after the last descriptor was needed.
    CloseDescriptors(Vec<RawFd>),
    /// The bounding set first: emptying it needs a capability.
    DropCapabilities,
    /// Landlock and seccomp demand it of a process without capabilities.
    NoNewPrivileges,
    /// Opens paths, so before the filter is on but after the mounts are final.
    RestrictFiles,
    /// Last: it refuses the calls that the steps above made.
    FilterCalls,
}

/// All steps for `layers`, in order.
#[must_use]
pub fn plan(layers: Layers, limits: SelfLimits, keep: Vec<RawFd>) -> Vec<Step> {
    let optional = |on: bool, step: Step| on.then_some(step);
    [
        Some(Step::EnterGroups),
        Some(Step::JoinNamespaces),
        Some(Step::NewSession),
        Some(Step::BecomeInnerUser),
        optional(layers.resource_limits, Step::LimitResources(limits)),
        optional(layers.close_descriptors, Step::CloseDescriptors(keep)),
        optional(layers.capabilities, Step::DropCapabilities),
        optional(layers.no_new_privileges, Step::NoNewPrivileges),
        optional(layers.landlock, Step::RestrictFiles),
        optional(layers.seccomp, Step::FilterCalls),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Carries steps out; a recording one stands in for it in tests.
pub trait Enforcer {
    fn enforce(&mut self, step: &Step) -> Result<()>;
}

/// Stops at the first step that fails: a process that is only partly confined must not go on.
pub fn confine(steps: &[Step], enforcer: &mut impl Enforcer) -> Result<()> {
    steps.iter().try_for_each(|step| enforcer.enforce(step))
}

/// The real thing, on the calling process.
#[derive(Debug)]
pub struct Linux<'a> {
    /// PID 1 of the sandbox.
    pub sandbox: BorrowedFd<'a>,
    /// The files through which the process puts itself under the sandbox's limits.
    pub groups: Vec<OwnedFd>,
    /// Which namespaces the sandbox has of its own.
    pub namespaces: i32,
    pub filters: &'a Filters,
}

impl Enforcer for Linux<'_> {
    fn enforce(&mut self, step: &Step) -> Result<()> {
        match step {
            Step::EnterGroups => self.groups.drain(..).try_for_each(|group| enter_group(group.as_fd())),
            // The PID namespace of a running process cannot change; its children's was set before the fork.
            Step::JoinNamespaces => sys::setns(self.sandbox, self.namespaces & !libc::CLONE_NEWPID),
            Step::NewSession => sys::new_session(),
            Step::BecomeInnerUser => {
                sys::set_ids(INNER_USER, INNER_USER)?;
                // Changing ids clears it; without it the process could not read its own /proc entries.
                sys::set_dumpable(true)
            }
            Step::LimitResources(limits) => limit_resources(*limits),
            Step::CloseDescriptors(keep) => sys::close_all_but(keep),
            Step::DropCapabilities => {
                sys::drop_bounding_capabilities(&[])?;
                sys::clear_capabilities()
            }
            Step::NoNewPrivileges => sys::no_new_privileges(),
            Step::RestrictFiles => landlock::restrict(),
            Step::FilterCalls => self.filters.install(),
        }
    }
}

/// Through a file that somebody opened who may write to it.
pub(crate) fn enter_group(entrance: BorrowedFd<'_>) -> Result<()> {
    // "0" is whoever writes.
    sys::write_all(entrance.as_raw_fd(), b"0").map_err(|error| error.on("a control group"))
}

fn limit_resources(limits: SelfLimits) -> Result<()> {
    sys::set_limit(libc::RLIMIT_CORE, 0)?;
    sys::set_limit(libc::RLIMIT_NOFILE, limits.open_files)?;
    sys::set_limit(libc::RLIMIT_FSIZE, limits.file_bytes)?;
    sys::set_limit(libc::RLIMIT_MEMLOCK, 1 << 20)?;
    sys::set_limit(libc::RLIMIT_MSGQUEUE, 0)?;
    // Counted for everybody up to the host's root, so one sandbox must not have all of them.
    sys::set_limit(libc::RLIMIT_SIGPENDING, 1024)?;
    sys::set_limit(libc::RLIMIT_NPROC, limits.processes)?;
    if limits.address_space > 0 {
        sys::set_limit(libc::RLIMIT_AS, limits.address_space)?;
    }
    Ok(())
}

/// The life of a sandbox's PID 1: it holds the namespaces open and reaps. Never returns.
///
/// It runs as an id that code inside does not have, with no capability, under the same filter, and
/// cannot be traced, so that it is no stepping stone.
pub fn become_init(filters: &Filters, layers: Layers) -> Result<std::convert::Infallible> {
    sys::ignore_children();
    // The standard ones were the helper's own: its control socket and the server's log.
    let null = sys::open_null()?;
    for stream in 0..3 {
        sys::duplicate_onto(null.as_fd(), stream)?;
    }
    sys::close_all_but(&[])?;
    // Closed already; dropping it would close whatever has its number by then.
    std::mem::forget(null);
    sys::drop_bounding_capabilities(&[])?;
    sys::clear_capabilities()?;
    sys::no_new_privileges()?;
    if layers.seccomp {
        filters.install()?;
    }
    // After the credential changes above, which reset it.
    sys::set_dumpable(false)?;
    loop {
        // Orphans that end are reaped by the kernel, because their signal is ignored.
        std::thread::park();
    }
}

/// Chooses the PID namespace that the next children are born into.
#[derive(Debug)]
pub struct PidNamespaces {
    own: OwnedFd,
}

impl PidNamespaces {
    /// To be made before the process changes anything: it remembers the way back.
    pub fn remember(own: OwnedFd) -> Self {
        Self { own }
    }

    pub fn children_into(&self, sandbox: BorrowedFd<'_>) -> Result<()> {
        sys::setns(sandbox, libc::CLONE_NEWPID)
    }

    pub fn children_here(&self) -> Result<()> {
        sys::setns(self.own.as_fd(), libc::CLONE_NEWPID)
    }
}

#[cfg(test)]
#[path = "confine_tests.rs"]
mod tests;
