//! What a process may do: capabilities, resource limits, filters.

use std::io;
use std::ptr;

use libc::{c_int, c_ulong, c_void};

use super::check;
use crate::seccomp_program::Instruction;
use crate::{Result, StepError};

fn prctl(step: &'static str, option: c_int, argument: c_ulong) -> Result<()> {
    // SAFETY: every option used in this crate takes numbers only.
    check(step, unsafe { libc::prctl(option, argument, 0, 0, 0) }).map(drop)
}

pub fn no_new_privileges() -> Result<()> {
    prctl("no_new_privs", libc::PR_SET_NO_NEW_PRIVS, 1)
}

/// A process that is not dumpable cannot be traced or have its memory read by its own user.
pub fn set_dumpable(on: bool) -> Result<()> {
    prctl("PR_SET_DUMPABLE", libc::PR_SET_DUMPABLE, c_ulong::from(on))
}

/// Have the kernel kill this process when its parent ends.
pub fn die_with_parent() -> Result<()> {
    prctl("PR_SET_PDEATHSIG", libc::PR_SET_PDEATHSIG, libc::SIGKILL as c_ulong)
}

/// Empties the bounding and ambient sets; `keep` names what stays possible after an exec.
pub fn drop_bounding_capabilities(keep: &[u32]) -> Result<()> {
    for capability in 0..64u32 {
        if keep.contains(&capability) {
            continue;
        }
        match prctl("PR_CAPBSET_DROP", libc::PR_CAPBSET_DROP, c_ulong::from(capability)) {
            Err(error) if error.errno() == Some(libc::EINVAL) => break, // past the last one this kernel knows
            other => other?,
        }
    }
    prctl("PR_CAP_AMBIENT", libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL as c_ulong)
}

/// Gives up every capability for good.
pub fn clear_capabilities() -> Result<()> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    const VERSION_3: u32 = 0x2008_0522;
    let header = Header { version: VERSION_3, pid: 0 };
    let nothing = [0u32; 6];
    // SAFETY: version 3 reads two structs of three u32, which `nothing` holds.
    check("capset", unsafe { libc::syscall(libc::SYS_capset, &header, nothing.as_ptr()) }).map(drop)
}

pub fn set_limit(resource: libc::__rlimit_resource_t, value: u64) -> Result<()> {
    let limit = libc::rlimit { rlim_cur: value, rlim_max: value };
    // SAFETY: limit outlives the call.
    check("setrlimit", unsafe { libc::setrlimit(resource, &limit) }).map(drop)
}

/// Raises the soft limit of open files to the hard one; 500 sandboxes need some 2,500.
pub fn raise_open_files() -> Result<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: limit outlives the call.
    check("getrlimit", unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) })?;
    limit.rlim_cur = limit.rlim_max;
    // SAFETY: limit outlives the call.
    check("setrlimit", unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) })?;
    Ok(limit.rlim_cur)
}

/// A seccomp program as the kernel takes it.
#[repr(C)]
struct Program {
    length: u16,
    filter: *const Instruction,
}

/// Installs one filter on this thread. There is no way back.
pub(crate) fn install_filter(filter: &[Instruction]) -> Result<()> {
    let length = u16::try_from(filter.len())
        .map_err(|_| StepError::new("seccomp", io::ErrorKind::InvalidInput.into()))?;
    let program = Program { length, filter: filter.as_ptr() };
    const SECCOMP_SET_MODE_FILTER: u32 = 1;
    // SAFETY: the program and the filter it points to outlive the call; the kernel copies them.
    let returned =
        unsafe { libc::syscall(libc::SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0u32, ptr::from_ref(&program)) };
    check("seccomp", returned).map(drop)
}

/// The Landlock version the kernel offers; 0 when it has none.
#[must_use]
pub fn landlock_version(version_flag: u32) -> i64 {
    // SAFETY: with the version flag the kernel reads no memory.
    let returned = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, ptr::null::<c_void>(), 0usize, version_flag)
    };
    returned.max(0)
}
