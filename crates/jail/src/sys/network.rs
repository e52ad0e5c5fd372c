//! The one network device a sandbox has.

use std::os::fd::AsRawFd;

use super::{check, owned};
use crate::Result;

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
