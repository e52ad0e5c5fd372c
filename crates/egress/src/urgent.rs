//! Urgent data of TCP, which hardly anything has a use for: it is passed on as what it is besides, a byte in its place.

use std::os::fd::AsFd;

use rustix::net::sockopt;

/// For a socket that will connect, or one that listens, for all that it accepts. Else the kernel takes the byte out of
/// the stream, and what is passed on has a hole.
pub(crate) fn urgent_as_usual(socket: impl AsFd) {
    // Every kernel can; without it only what is urgent is lost.
    let _ = sockopt::set_socket_oobinline(socket, true);
}
