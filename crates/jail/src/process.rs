//! Making the engine's processes: the helper's own namespaces, the process sandboxes are forked from,
//! and the PID 1 of each sandbox.

use std::convert::Infallible;
use std::ffi::CString;
use std::fs;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::confine::{become_init, enter_group};
use crate::root::{RuntimeMounts, SandboxRoot, enter_engine_root, enter_sandbox_root, enter_zygote_root};
use crate::sys::{self, Forked};
use crate::{Filters, INNER_INIT, INNER_USER, Layers, Result, StepError, mounts};

/// Proof that this process has one thread, which makes forking sound.
#[derive(Debug)]
pub struct SingleThreaded(());

impl SingleThreaded {
    pub fn check() -> Result<Self> {
        let threads = fs::read_dir("/proc/self/task")
            .map_err(|error| StepError::new("counting threads", error))?
            .count();
        if threads == 1 {
            Ok(Self(()))
        } else {
            Err(StepError::new("counting threads", std::io::Error::other(format!("there are {threads}"))))
        }
    }

    pub(crate) fn fork(&self) -> Result<Forked> {
        // SAFETY: there is one thread: `check` saw it, and the helper roles start none.
        unsafe { sys::fork() }
    }
}

/// Which namespaces the sandboxes get.
#[must_use]
pub fn namespaces(layers: Layers) -> i32 {
    let mut flags = sys::ALL_NAMESPACES;
    for (on, flag) in [
        (layers.network, libc::CLONE_NEWNET),
        (layers.ipc, libc::CLONE_NEWIPC),
        (layers.hostname, libc::CLONE_NEWUTS),
    ] {
        if !on {
            flags &= !flag;
        }
    }
    flags
}

/// What the helper needs to know to move into namespaces of its own.
#[derive(Debug)]
pub struct EngineNamespaces<'a> {
    /// Started by the host's root: ids come from a range; otherwise the one id of whoever started it.
    pub by_root: bool,
    pub scratch: &'a str,
    pub volumes: &'a str,
    pub runtime: &'a RuntimeMounts,
    pub layers: Layers,
}

/// Moves this process into a user namespace where it is root over nothing but sandboxes, with a root
/// file system of its own, and returns in a child that is PID 1 there. `map_ids` has somebody outside
/// write the id maps of this process.
pub fn enter_engine_namespaces(
    alone: &SingleThreaded,
    engine: &EngineNamespaces<'_>,
    map_ids: impl FnOnce() -> Result<()>,
) -> Result<()> {
    if engine.by_root {
        // Mounts are made while this is still the host's root: it may read the folders they show, and what
        // it mounts read-only, no user namespace can make writable. Groups are given up while that is allowed.
        sys::clear_groups()?;
        sys::unshare(libc::CLONE_NEWNS)?;
        enter_engine_root(engine.scratch, engine.volumes, engine.runtime)?;
        sys::unshare(libc::CLONE_NEWUSER)?;
        map_ids()?;
    } else {
        sys::unshare(libc::CLONE_NEWUSER)?;
        map_ids()?;
        sys::unshare(libc::CLONE_NEWNS)?;
        enter_engine_root(engine.scratch, engine.volumes, engine.runtime)?;
    }
    sys::set_ids(0, 0)?;
    // The PID namespace after the user namespace, so that the zygote may come back to it from a sandbox's.
    sys::unshare(namespaces(engine.layers) & !libc::CLONE_NEWUSER)?;
    match alone.fork()? {
        Forked::Child => {
            sys::die_with_parent()?;
            mounts::make_private()?;
            mounts::proc("/proc")
        }
        Forked::Parent { child } => loop {
            // Stays as the one thing to kill: when this process goes, the kernel ends the whole tree.
            if let Some((pid, _)) = sys::reap_any(true)
                && pid == child
            {
                sys::exit_now(0);
            }
        },
    }
}

/// Runs the program again from its own file, so that its memory belongs to the new user namespace and
/// the zygote may join sandboxes whose PID 1 cannot be traced. `name` becomes argv\[0\].
pub fn run_again_as(name: &str, arguments: &[&str]) -> Result<Infallible> {
    let all: Vec<&str> = [name].into_iter().chain(arguments.iter().copied()).collect();
    execute("/proc/self/exe", &all, &[])
}

/// Replaces this process.
pub fn execute(program: &str, arguments: &[&str], environment: &[&str]) -> Result<Infallible> {
    let strings =
        |texts: &[&str]| texts.iter().map(|text| sys::c_string(text)).collect::<Result<Vec<CString>>>();
    let (arguments, environment) = (strings(arguments)?, strings(environment)?);
    Err(sys::execve(&sys::c_string(program)?, &arguments, &environment).on(program))
}

/// Starts the program that sandboxes are forked from, inside the template root. `control` becomes its
/// descriptor 3. Gives a descriptor of the process.
pub fn start_zygote(
    alone: &SingleThreaded,
    control: BorrowedFd<'_>,
    program: &str,
    arguments: &[&str],
    environment: &[&str],
    layers: Layers,
) -> Result<OwnedFd> {
    match alone.fork()? {
        Forked::Parent { child } => sys::pidfd_open(child),
        Forked::Child => {
            let error = zygote(control, program, arguments, environment, layers);
            fail_in_child("zygote", error.err());
        }
    }
}

fn zygote(
    control: BorrowedFd<'_>,
    program: &str,
    arguments: &[&str],
    environment: &[&str],
    layers: Layers,
) -> Result<Infallible> {
    sys::default_signal(libc::SIGCHLD);
    sys::new_session()?;
    sys::unshare(libc::CLONE_NEWNS)?;
    enter_zygote_root()?;
    // Its standard input was the helper's control socket.
    sys::duplicate_onto(sys::open_null()?.as_fd(), 0)?;
    sys::duplicate_onto(control, 3)?;
    // Here already, and once more in each sandbox: what it does not have, no sandbox can be given.
    if layers.close_descriptors {
        sys::close_all_but(&[3])?;
    }
    // What joining a sandbox takes: setns itself, and looking at its PID 1.
    const CAP_SYS_PTRACE: u32 = 19;
    const CAP_SYS_ADMIN: u32 = 21;
    sys::drop_bounding_capabilities(&[CAP_SYS_PTRACE, CAP_SYS_ADMIN])?;
    execute(program, arguments, environment)
}

/// How the ids inside a sandbox map to those of the engine's user namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SandboxIds {
    /// PID 1 and the user have an id each, and no other sandbox has either.
    Own { init: u32, user: u32 },
    /// Only one id is to be had: the engine was started by an ordinary user.
    Shared,
}

impl SandboxIds {
    fn map(self) -> String {
        match self {
            Self::Own { init, user } => format!("{INNER_INIT} {init} 1\n{INNER_USER} {user} 1\n"),
            Self::Shared => format!("{INNER_USER} 0 1\n"),
        }
    }

    fn of_init(self) -> u32 {
        match self {
            Self::Own { .. } => INNER_INIT,
            Self::Shared => INNER_USER,
        }
    }
}

/// Makes a sandbox's namespaces with a PID 1 that holds them; gives a descriptor of it once all is ready.
///
/// `groups` are the entrances of its control groups, opened by whoever may write to them.
pub fn make_sandbox(
    _alone: &SingleThreaded,
    root: &SandboxRoot,
    ids: SandboxIds,
    groups: &[OwnedFd],
    layers: Layers,
    filters: &Filters,
) -> Result<OwnedFd> {
    let (ours, theirs) = sys::packet_pair()?;
    let flags = namespaces(layers) & !libc::CLONE_NEWCGROUP;
    // SAFETY: there is one thread, as `_alone` proves; the child uses no thread-local of glibc that depends on
    // its thread id.
    let (side, pidfd) = unsafe { sys::clone_into_namespaces(flags) }?;
    match side {
        Forked::Child => {
            drop(ours);
            let error = sandbox_init(theirs, root, ids, groups, layers, filters);
            fail_in_child("sandbox", error.err());
        }
        Forked::Parent { child } => {
            drop(theirs);
            write_maps(child, ids)?;
            sys::send_message(ours.as_fd(), b"mapped", &[])?;
            let mut answer = [0u8; 1024];
            let (length, _) = sys::receive_message(ours.as_fd(), &mut answer)?;
            match (&answer[..length], pidfd) {
                (b"ready", Some(pidfd)) => Ok(pidfd),
                (reason, _) => {
                    let reason = String::from_utf8_lossy(reason).into_owned();
                    Err(StepError::new("making a sandbox", std::io::Error::other(reason)))
                }
            }
        }
    }
}

fn write_maps(child: i32, ids: SandboxIds) -> Result<()> {
    for (file, content) in [("setgroups", "deny".to_owned()), ("uid_map", ids.map()), ("gid_map", ids.map())]
    {
        let path = format!("/proc/{child}/{file}");
        fs::write(&path, content).map_err(|error| StepError::new("mapping ids", error).on(path))?;
    }
    Ok(())
}

fn sandbox_init(
    parent: OwnedFd,
    root: &SandboxRoot,
    ids: SandboxIds,
    groups: &[OwnedFd],
    layers: Layers,
    filters: &Filters,
) -> Result<Infallible> {
    // Nothing may be done with ids before they are mapped.
    sys::receive_message(parent.as_fd(), &mut [0u8; 16])?;
    let built = build_sandbox(root, ids, groups, layers);
    let answer = built.as_ref().map_or_else(ToString::to_string, |()| "ready".to_owned());
    sys::send_message(parent.as_fd(), answer.as_bytes(), &[])?;
    built?;
    drop(parent);
    become_init(filters, layers)
}

fn build_sandbox(root: &SandboxRoot, ids: SandboxIds, groups: &[OwnedFd], layers: Layers) -> Result<()> {
    for group in groups {
        enter_group(group.as_fd())?;
    }
    // Only now: the namespace hides everything above the groups the process is in when it makes it.
    sys::unshare(libc::CLONE_NEWCGROUP)?;
    sys::set_ids(ids.of_init(), ids.of_init())?;
    sys::new_session()?;
    if layers.network {
        sys::loopback_up()?;
    }
    if layers.hostname {
        sys::set_hostname("sandbox")?;
    }
    enter_sandbox_root(root, layers)
}

/// The last words of a child that could not become what it should.
fn fail_in_child(what: &str, error: Option<StepError>) -> ! {
    if let Some(error) = error {
        let text = format!("sandgate {what}: {error}\n");
        let _ = sys::write_all(2, text.as_bytes());
    }
    sys::exit_now(70)
}

/// The namespace file of this process that later children come back to.
pub fn own_pid_namespace() -> Result<OwnedFd> {
    let file =
        fs::File::open("/proc/self/ns/pid").map_err(|error| StepError::new("opening a namespace", error))?;
    Ok(file.into())
}
