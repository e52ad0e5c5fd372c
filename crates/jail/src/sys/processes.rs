//! Processes and namespaces: making them, joining them, becoming somebody else.

use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::ptr;

use libc::c_int;

use super::{check, owned};
use crate::{Result, StepError};

pub const ALL_NAMESPACES: c_int = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

pub fn unshare(flags: c_int) -> Result<()> {
    // SAFETY: takes only flags; the callers are single-threaded helpers.
    check("unshare", unsafe { libc::unshare(flags) }).map(drop)
}

/// Joins the namespaces `flags` names, of the process or namespace file behind `fd`.
pub fn setns(fd: BorrowedFd<'_>, flags: c_int) -> Result<()> {
    // SAFETY: the descriptor is open for the length of the call.
    check("setns", unsafe { libc::setns(fd.as_raw_fd(), flags) }).map(drop)
}

/// What a fork gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forked {
    Parent { child: i32 },
    Child,
}

/// # Safety
/// The process must have a single thread, or the child must call nothing but async-signal-safe functions.
pub unsafe fn fork() -> Result<Forked> {
    // SAFETY: passed on to the caller.
    match check("fork", unsafe { libc::fork() })? {
        0 => Ok(Forked::Child),
        child => Ok(Forked::Parent { child: i32::try_from(child).unwrap_or(-1) }),
    }
}

#[repr(C)]
#[derive(Default)]
struct CloneArgs {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
    set_tid: u64,
    set_tid_size: u64,
    cgroup: u64,
}

/// A fork into new namespaces; the parent also gets a descriptor of the child.
///
/// # Safety
/// As [`fork`]; besides, glibc does not hear of it: the child must not rely on its cached thread id.
pub unsafe fn clone_into_namespaces(flags: c_int) -> Result<(Forked, Option<OwnedFd>)> {
    let mut pidfd: c_int = -1;
    let mut args = CloneArgs {
        flags: (flags as u64) | libc::CLONE_PIDFD as u64,
        pidfd: ptr::from_mut(&mut pidfd) as u64,
        exit_signal: libc::SIGCHLD as u64,
        ..CloneArgs::default()
    };
    // SAFETY: args outlives the call and has the size given; without CLONE_VM both sides have their own memory.
    let pid = unsafe { libc::syscall(libc::SYS_clone3, ptr::from_mut(&mut args), size_of::<CloneArgs>()) };
    match check("clone3", pid)? {
        0 => Ok((Forked::Child, None)),
        child => {
            let child = i32::try_from(child).unwrap_or(-1);
            Ok((Forked::Parent { child }, Some(owned("clone3", pidfd)?)))
        }
    }
}

pub fn pidfd_open(pid: i32) -> Result<OwnedFd> {
    // SAFETY: takes only numbers.
    owned("pidfd_open", unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) })
}

/// Reaps one finished child, if there is one: its pid and raw wait status.
#[must_use]
pub fn reap_any(block: bool) -> Option<(i32, i32)> {
    let mut status: c_int = 0;
    // SAFETY: status outlives the call.
    let pid = unsafe { libc::waitpid(-1, &mut status, if block { 0 } else { libc::WNOHANG }) };
    (pid > 0).then_some((pid, status))
}

/// Ends the process at once, with no destructor and no exit handler.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: never returns and touches no memory.
    unsafe { libc::_exit(code) }
}

pub fn set_ids(uid: u32, gid: u32) -> Result<()> {
    // The group first: once the user is changed, the right to change the group may be gone.
    // SAFETY: raw system calls with numbers; glibc's wrappers would signal other threads, of which there are none.
    check("setresgid", unsafe { libc::syscall(libc::SYS_setresgid, gid, gid, gid) })?;
    // SAFETY: as above.
    check("setresuid", unsafe { libc::syscall(libc::SYS_setresuid, uid, uid, uid) }).map(drop)
}

/// Gives up every supplementary group.
pub fn clear_groups() -> Result<()> {
    // SAFETY: a length of zero reads no memory.
    check("setgroups", unsafe { libc::syscall(libc::SYS_setgroups, 0, ptr::null::<u32>()) }).map(drop)
}

pub fn new_session() -> Result<()> {
    // SAFETY: takes nothing.
    check("setsid", unsafe { libc::setsid() }).map(drop)
}

pub fn set_hostname(name: &str) -> Result<()> {
    // SAFETY: the name is valid for the length given.
    check("sethostname", unsafe { libc::sethostname(name.as_ptr().cast(), name.len()) }).map(drop)
}

pub fn chdir(path: &CStr) -> Result<()> {
    // SAFETY: the path is a valid C string.
    check("chdir", unsafe { libc::chdir(path.as_ptr()) }).map(drop)
}

/// Replaces this process; comes back only with an error.
pub fn execve(program: &CStr, arguments: &[CString], environment: &[CString]) -> StepError {
    let pointers = |texts: &[CString]| -> Vec<*const libc::c_char> {
        texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect()
    };
    let (arguments, environment) = (pointers(arguments), pointers(environment));
    // SAFETY: both arrays end with a null pointer and, like the strings, outlive the call.
    unsafe { libc::execve(program.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    StepError::last("execve")
}

/// Files made from here on can be read by others and written by their owner only.
pub fn usual_umask() {
    // SAFETY: takes a number, cannot fail.
    unsafe { libc::umask(0o022) };
}

/// Whether the process behind the descriptor has ended.
#[must_use]
pub fn has_ended(pidfd: BorrowedFd<'_>) -> bool {
    let mut polled = libc::pollfd { fd: pidfd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, which outlives the call; with a time of 0 it does not wait.
    unsafe { libc::poll(&mut polled, 1, 0) == 1 && polled.revents != 0 }
}
