//! System calls, each as a safe function with a typed result. All unsafe code of the workspace that
//! talks to the kernel is here, so that it can be read in one sitting.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use libc::{c_int, c_ulong, c_void};

use crate::seccomp::Instruction;
use crate::{Result, StepError};

pub const ALL_NAMESPACES: c_int = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// Turns the C convention of -1 and errno into a result.
fn check(step: &'static str, returned: impl Into<i64>) -> Result<i64> {
    let returned = returned.into();
    if returned < 0 { Err(StepError::last(step)) } else { Ok(returned) }
}

fn owned(step: &'static str, returned: impl Into<i64>) -> Result<OwnedFd> {
    let raw = check(step, returned)?;
    let raw = RawFd::try_from(raw).map_err(|_| StepError::new(step, io::Error::other("odd descriptor")))?;
    // SAFETY: the kernel has just handed this descriptor to us and nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}

/// A C string; a NUL inside is a bug of the caller and becomes an error, not a cut-off path.
pub fn c_string(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| StepError::new("C string", io::ErrorKind::InvalidInput.into()).on(text))
}

#[must_use]
pub fn effective_uid() -> u32 {
    // SAFETY: takes nothing, cannot fail.
    unsafe { libc::geteuid() }
}

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

/// Closes every descriptor from 3 up that is not in `keep`. The caller owns none of them any more.
pub fn close_all_but(keep: &[RawFd]) -> Result<()> {
    let mut keep: Vec<u32> =
        keep.iter().filter_map(|fd| u32::try_from(*fd).ok()).filter(|fd| *fd >= 3).collect();
    keep.sort_unstable();
    let mut first = 3u32;
    for kept in keep.into_iter().chain([u32::MAX]) {
        if kept > first {
            let last = if kept == u32::MAX { u32::MAX } else { kept - 1 };
            // SAFETY: takes numbers; whoever calls this is about to become the sandbox and uses no other descriptor.
            check("close_range", unsafe { libc::syscall(libc::SYS_close_range, first, last, 0u32) })?;
        }
        first = kept.saturating_add(1);
    }
    Ok(())
}

/// Makes `fd` also be number `target`, which survives an exec.
pub fn duplicate_onto(fd: BorrowedFd<'_>, target: RawFd) -> Result<()> {
    if fd.as_raw_fd() == target {
        // dup2 onto itself would leave close-on-exec set.
        // SAFETY: takes numbers.
        return check("fcntl", unsafe { libc::fcntl(target, libc::F_SETFD, 0) }).map(drop);
    }
    // SAFETY: takes numbers; `target` is a standard stream or given up by the caller.
    check("dup2", unsafe { libc::dup2(fd.as_raw_fd(), target) }).map(drop)
}

/// Sets a signal back to what the kernel does by default.
pub fn default_signal(signal: c_int) {
    // SAFETY: SIG_DFL is a valid disposition for every signal used here.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
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

/// Waits until one of `fds` can be read; says which.
pub fn wait_readable<const N: usize>(fds: [BorrowedFd<'_>; N]) -> Result<[bool; N]> {
    let mut polled = fds.map(|fd| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 });
    loop {
        // SAFETY: the array outlives the call and has the length given.
        match check("poll", unsafe { libc::poll(polled.as_mut_ptr(), N as libc::nfds_t, -1) }) {
            Err(error) if error.errno() == Some(libc::EINTR) => {}
            Err(error) => return Err(error),
            Ok(_) => return Ok(polled.map(|one| one.revents != 0)),
        }
    }
}

pub fn chdir(path: &CStr) -> Result<()> {
    // SAFETY: the path is a valid C string.
    check("chdir", unsafe { libc::chdir(path.as_ptr()) }).map(drop)
}

/// Makes the current directory the root, with the old root stacked under it, then lets go of the old one.
pub fn pivot_root_here() -> Result<()> {
    let here = c".";
    // SAFETY: the paths are valid C strings.
    check("pivot_root", unsafe { libc::syscall(libc::SYS_pivot_root, here.as_ptr(), here.as_ptr()) })?;
    // SAFETY: as above. After the call above "." is the old root, stacked on the new one.
    check("umount of the old root", unsafe { libc::umount2(here.as_ptr(), libc::MNT_DETACH) })?;
    chdir(c"/")
}

pub fn mount(
    source: &CStr,
    target: &CStr,
    kind: Option<&CStr>,
    flags: c_ulong,
    data: Option<&CStr>,
) -> Result<()> {
    let pointer = |text: Option<&CStr>| text.map_or(ptr::null(), CStr::as_ptr);
    // SAFETY: all pointers are valid C strings or null where mount allows it.
    let returned = unsafe {
        libc::mount(source.as_ptr(), target.as_ptr(), pointer(kind), flags, pointer(data).cast::<c_void>())
    };
    check("mount", returned).map(drop).map_err(|error| error.on(target.to_string_lossy()))
}

pub const OPEN_TREE_CLONE: u32 = 1;

/// A private copy of the mounts at and below `path`, not yet attached anywhere.
pub fn clone_tree(path: &CStr) -> Result<OwnedFd> {
    let flags = OPEN_TREE_CLONE | libc::O_CLOEXEC as u32 | libc::AT_RECURSIVE as u32;
    // SAFETY: the path is a valid C string.
    let returned = unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags) };
    owned("open_tree", returned).map_err(|error| error.on(path.to_string_lossy()))
}

#[repr(C)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    userns: u64,
}

pub const ATTR_RDONLY: u64 = 1;
pub const ATTR_NOSUID: u64 = 2;
pub const ATTR_NODEV: u64 = 4;
pub const ATTR_NOEXEC: u64 = 8;

/// Sets attributes on every mount of a tree.
pub fn set_tree_attributes(tree: BorrowedFd<'_>, set: u64) -> Result<()> {
    let attributes = MountAttributes { set, clear: 0, propagation: libc::MS_PRIVATE, userns: 0 };
    let flags = (libc::AT_EMPTY_PATH | libc::AT_RECURSIVE) as u32;
    // SAFETY: attributes outlives the call and has the size given.
    let returned = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            flags,
            ptr::from_ref(&attributes),
            size_of::<MountAttributes>(),
        )
    };
    check("mount_setattr", returned).map(drop)
}

/// Attaches a detached tree at `target`.
pub fn attach_tree(tree: BorrowedFd<'_>, target: &CStr) -> Result<()> {
    const MOVE_MOUNT_F_EMPTY_PATH: u32 = 4;
    // SAFETY: both paths are valid C strings.
    let returned = unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_FDCWD,
            target.as_ptr(),
            MOVE_MOUNT_F_EMPTY_PATH,
        )
    };
    check("move_mount", returned).map(drop).map_err(|error| error.on(target.to_string_lossy()))
}

/// Brings up the loopback device of the current network namespace.
pub fn loopback_up() -> Result<()> {
    // SAFETY: takes numbers.
    let socket =
        owned("socket", unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) })?;
    // SAFETY: ifreq is plain data for which zero is valid; the union field written is the one SIOCSIFFLAGS reads.
    let returned = unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = b'l'.cast_signed();
        request.ifr_name[1] = b'o'.cast_signed();
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as i16;
        libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &request)
    };
    check("bringing up loopback", returned).map(drop)
}

/// Fills the buffer with random bytes from the kernel.
pub fn fill_random(buffer: &mut [u8]) -> Result<()> {
    let mut done = 0;
    while done < buffer.len() {
        let rest = &mut buffer[done..];
        // SAFETY: the pointer and length describe `rest`.
        let got =
            check("getrandom", unsafe { libc::getrandom(rest.as_mut_ptr().cast(), rest.len(), 0) } as i64)?;
        done += usize::try_from(got).unwrap_or(0);
    }
    Ok(())
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

/// Sets attributes on one mount.
pub fn set_mount_attributes(path: &CStr, set: u64) -> Result<()> {
    let attributes = MountAttributes { set, clear: 0, propagation: 0, userns: 0 };
    // SAFETY: attributes outlives the call and has the size given; the path is a valid C string.
    let returned = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            0u32,
            ptr::from_ref(&attributes),
            size_of::<MountAttributes>(),
        )
    };
    check("mount_setattr", returned).map(drop).map_err(|error| error.on(path.to_string_lossy()))
}

/// How many descriptors one message may carry.
pub const MAX_FDS: usize = 16;

/// Sends one message with descriptors on a connected socket.
pub fn send_message(socket: BorrowedFd<'_>, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> Result<()> {
    let raw: Vec<RawFd> = fds.iter().map(AsRawFd::as_raw_fd).collect();
    let payload = size_of_val(raw.as_slice());
    // u64 for the alignment a control header needs.
    let mut control = [0u64; 16];
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    if fds.len() > MAX_FDS {
        return Err(StepError::new("sendmsg", io::ErrorKind::InvalidInput.into()));
    }
    loop {
        // SAFETY: every pointer in the header is to memory that outlives the call, and the control buffer is
        // large enough for MAX_FDS descriptors, which was checked above.
        let sent = unsafe {
            let mut header: libc::msghdr = std::mem::zeroed();
            header.msg_iov = &mut part;
            header.msg_iovlen = 1;
            if !raw.is_empty() {
                header.msg_control = control.as_mut_ptr().cast();
                header.msg_controllen = libc::CMSG_SPACE(payload as u32) as _;
                let first = libc::CMSG_FIRSTHDR(&header);
                (*first).cmsg_level = libc::SOL_SOCKET;
                (*first).cmsg_type = libc::SCM_RIGHTS;
                (*first).cmsg_len = libc::CMSG_LEN(payload as u32) as _;
                ptr::copy_nonoverlapping(raw.as_ptr().cast::<u8>(), libc::CMSG_DATA(first), payload);
            }
            libc::sendmsg(socket.as_raw_fd(), &header, libc::MSG_NOSIGNAL)
        };
        match check("sendmsg", sent as i64) {
            Err(error) if error.errno() == Some(libc::EINTR) => {}
            other => return other.map(drop),
        }
    }
}

/// Receives one message with its descriptors; an empty message means that the other end is gone.
pub fn receive_message(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<(usize, Vec<OwnedFd>)> {
    let mut control = [0u64; 16];
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    loop {
        let mut fds = Vec::new();
        // SAFETY: every pointer in the header is to memory that outlives the call; the kernel fills the control
        // buffer with whole headers, and each descriptor in it is new and ours.
        let (received, cut) = unsafe {
            let mut header: libc::msghdr = std::mem::zeroed();
            header.msg_iov = &mut part;
            header.msg_iovlen = 1;
            header.msg_control = control.as_mut_ptr().cast();
            header.msg_controllen = size_of_val(&control) as _;
            let received = libc::recvmsg(socket.as_raw_fd(), &mut header, libc::MSG_CMSG_CLOEXEC);
            if received >= 0 {
                let mut next = libc::CMSG_FIRSTHDR(&header);
                while !next.is_null() {
                    if (*next).cmsg_level == libc::SOL_SOCKET && (*next).cmsg_type == libc::SCM_RIGHTS {
                        let bytes = (*next).cmsg_len as usize - libc::CMSG_LEN(0) as usize;
                        let data = libc::CMSG_DATA(next).cast::<RawFd>();
                        for at in 0..bytes / size_of::<RawFd>() {
                            fds.push(OwnedFd::from_raw_fd(data.add(at).read_unaligned()));
                        }
                    }
                    next = libc::CMSG_NXTHDR(&header, next);
                }
            }
            (received, header.msg_flags & (libc::MSG_CTRUNC | libc::MSG_TRUNC) != 0)
        };
        match check("recvmsg", received as i64) {
            Err(error) if error.errno() == Some(libc::EINTR) => {}
            Err(error) => return Err(error),
            Ok(_) if cut => return Err(StepError::new("recvmsg", io::Error::other("a message was cut"))),
            Ok(length) => return Ok((usize::try_from(length).unwrap_or(0), fds)),
        }
    }
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

/// Two connected ends of a packet socket.
pub fn packet_pair() -> Result<(OwnedFd, OwnedFd)> {
    let mut pair: [c_int; 2] = [-1; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: the array has room for two descriptors.
    check("socketpair", unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, pair.as_mut_ptr()) })?;
    Ok((owned("socketpair", pair[0])?, owned("socketpair", pair[1])?))
}

/// Writes everything to a raw descriptor, for last words.
pub fn write_all(fd: RawFd, mut bytes: &[u8]) -> Result<()> {
    while !bytes.is_empty() {
        // SAFETY: pointer and length describe `bytes`.
        let written = check("write", unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) } as i64)?;
        bytes = &bytes[usize::try_from(written).unwrap_or(bytes.len())..];
    }
    Ok(())
}

/// Reads and throws away whatever is in a non-blocking descriptor.
pub fn drain(fd: BorrowedFd<'_>) -> Result<()> {
    let mut buffer = [0u8; 1024];
    loop {
        // SAFETY: pointer and length describe the buffer.
        let read = unsafe { libc::read(fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) };
        match check("read", read as i64) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.errno() == Some(libc::EAGAIN) => return Ok(()),
            Err(error) if error.errno() == Some(libc::EINTR) => {}
            Err(error) => return Err(error),
        }
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

pub fn open_null() -> Result<OwnedFd> {
    let file = std::fs::File::options().read(true).write(true).open("/dev/null");
    file.map(OwnedFd::from).map_err(|error| StepError::new("opening /dev/null", error))
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

/// Asks the kernel to back memory of this process with large pages, now. Its content stays as it is.
pub fn use_large_pages(address: usize, length: usize) -> Result<()> {
    const MADV_COLLAPSE: c_int = 25;
    for advice in [libc::MADV_HUGEPAGE, MADV_COLLAPSE] {
        // SAFETY: neither advice changes what the memory holds or who may use it, and a range that is not
        // mapped is refused.
        check("madvise", unsafe { libc::madvise(address as *mut c_void, length, advice) })?;
    }
    Ok(())
}
