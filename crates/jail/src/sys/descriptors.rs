//! Descriptors: closing, copying, waiting, sending them to another process.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use libc::c_int;

use super::{check, owned};
use crate::{Result, StepError};

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

/// How many descriptors one message may carry.
pub const MAX_FDS: usize = 64;
/// Words of a control buffer with room for that many, and its header.
const CONTROL_WORDS: usize = MAX_FDS / 2 + 2;

/// Sends one message with descriptors on a connected socket.
pub fn send_message(socket: BorrowedFd<'_>, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> Result<()> {
    let raw: Vec<RawFd> = fds.iter().map(AsRawFd::as_raw_fd).collect();
    let payload = size_of_val(raw.as_slice());
    // u64 for the alignment a control header needs.
    let mut control = [0u64; CONTROL_WORDS];
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
    let mut control = [0u64; CONTROL_WORDS];
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

pub fn open_null() -> Result<OwnedFd> {
    let file = std::fs::File::options().read(true).write(true).open("/dev/null");
    file.map(OwnedFd::from).map_err(|error| StepError::new("opening /dev/null", error))
}
