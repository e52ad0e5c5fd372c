//! What the kernel is told of a connection between two programs of this machine: one from a sandbox, or to a server
//! that the operator has beside Sandgate. All others are left to the kernel, which knows better.

use std::os::fd::AsFd;

use rustix::net::sockopt;

/// What has come and was not taken yet; the kernel takes it twice, for what it needs itself. Enough to be as fast as
/// can be, and little enough that it is still in the processor's cache when it is taken. What is sent has no such
/// bound, which would only make who sends wait.
const LITTLE: usize = 256 << 10;
/// The one that every kernel has and every user may choose. The machine's own may be one that paces what it sends
/// (BBR): of use on a long way, and on this one a brake that takes half of the speed.
const WITHOUT_PACING: &str = "reno";

/// For a socket that will connect, or one that listens, for all that it accepts. Later would be too late: a connection
/// that began paced stays so. Best effort: without it a connection works as well.
pub(crate) fn stays_on_this_machine(socket: impl AsFd) {
    let socket = socket.as_fd();
    let _ = sockopt::set_socket_recv_buffer_size(socket, LITTLE);
    let _ = sockopt::set_tcp_congestion(socket, WITHOUT_PACING);
}

#[cfg(test)]
#[path = "near_tests.rs"]
mod tests;
