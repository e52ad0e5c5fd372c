//! How much of a connection may lie in the kernel. To who is near, little is enough to be as fast as can be, and it
//! is still in the processor's cache when the other side takes it; to who is far, the kernel knows better.

use std::os::fd::AsFd;
use std::time::Duration;

use rustix::net::sockopt;

/// In each direction; the kernel takes it twice, for what it needs itself.
const LITTLE: usize = 128 << 10;
/// Who answers within this gets 600 megabytes per second at least through so little.
const NEAR: Duration = Duration::from_micros(200);

/// For a connection from a sandbox, which is on this machine. Best effort: without it a connection works as well.
pub(crate) fn keep_short(stream: impl AsFd) {
    let stream = stream.as_fd();
    let _ = sockopt::set_socket_send_buffer_size(stream, LITTLE);
    let _ = sockopt::set_socket_recv_buffer_size(stream, LITTLE);
}

/// For one to the outside, whose other side took so long to agree to it.
pub(crate) fn keep_short_if_near(stream: impl AsFd, took: Duration) {
    if took < NEAR {
        keep_short(stream);
    }
}

#[cfg(test)]
#[path = "buffers_tests.rs"]
mod tests;
