//! Signals: sending them, and what to do with those that come.

use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::ptr;

use libc::{c_int, c_void};

use super::{check, owned};
use crate::Result;

/// Sets a signal back to what the kernel does by default.
pub fn default_signal(signal: c_int) {
    // SAFETY: SIG_DFL is a valid disposition for every signal used here.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

/// Sets every signal back, as a program expects to find them: what is ignored stays so across an `exec`.
pub fn default_signals() {
    for signal in 1..=libc::SIGRTMAX() {
        default_signal(signal);
    }
}

/// Ignores one signal.
pub fn ignore_signal(signal: c_int) {
    // SAFETY: SIG_IGN is a valid disposition.
    unsafe { libc::signal(signal, libc::SIG_IGN) };
}

/// Lets finished children vanish without being waited for.
pub fn ignore_children() {
    // SAFETY: SIG_IGN is a valid disposition.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
}

/// Blocks or unblocks one signal in this thread.
pub fn mask_signal(signal: c_int, block: bool) {
    let how = if block { libc::SIG_BLOCK } else { libc::SIG_UNBLOCK };
    // SAFETY: the set is initialised by sigemptyset before it is read.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, signal);
        libc::sigprocmask(how, &set, ptr::null_mut());
    }
}

/// A descriptor that becomes readable when `signal`, which must be blocked, is pending.
pub fn signal_fd(signal: c_int) -> Result<OwnedFd> {
    // SAFETY: the set is initialised by sigemptyset before it is read.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, signal);
        owned("signalfd", libc::signalfd(-1, &set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK))
    }
}

/// Sends a signal to the process behind the descriptor, never to one that got its number later.
pub fn send_signal(pidfd: BorrowedFd<'_>, signal: c_int) -> Result<()> {
    // SAFETY: takes numbers and a null pointer, which the kernel reads as "no extra information".
    let returned = unsafe {
        libc::syscall(libc::SYS_pidfd_send_signal, pidfd.as_raw_fd(), signal, ptr::null::<c_void>(), 0u32)
    };
    check("pidfd_send_signal", returned).map(drop)
}

/// The process group that a process is in, if there is such a process.
#[must_use]
pub fn process_group(pid: i32) -> Option<i32> {
    // SAFETY: takes a number.
    let group = unsafe { libc::getpgid(pid) };
    (group > 0).then_some(group)
}

/// Sends a signal to the process group the process behind the descriptor is in. Linux 6.9 and later.
pub fn signal_group(pidfd: BorrowedFd<'_>, signal: c_int) -> Result<()> {
    const PIDFD_SIGNAL_PROCESS_GROUP: u32 = 4;
    // SAFETY: takes numbers and a null pointer, which the kernel reads as "no extra information".
    let returned = unsafe {
        libc::syscall(
            libc::SYS_pidfd_send_signal,
            pidfd.as_raw_fd(),
            signal,
            ptr::null::<c_void>(),
            PIDFD_SIGNAL_PROCESS_GROUP,
        )
    };
    check("pidfd_send_signal", returned).map(drop)
}
