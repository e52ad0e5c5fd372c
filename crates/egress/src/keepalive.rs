//! Who is gone without a word is noticed, so that nobody's place is held for a connection that is none.

use std::os::fd::AsFd;
use std::time::Duration;

use rustix::net::sockopt;

const QUIET: Duration = Duration::from_secs(60);
const BETWEEN: Duration = Duration::from_secs(20);
const TIMES: u32 = 4;

/// Best effort: without it a connection works as well.
pub(crate) fn keep_alive(stream: impl AsFd) {
    let stream = stream.as_fd();
    let _ = sockopt::set_tcp_keepidle(stream, QUIET);
    let _ = sockopt::set_tcp_keepintvl(stream, BETWEEN);
    let _ = sockopt::set_tcp_keepcnt(stream, TIMES);
    let _ = sockopt::set_socket_keepalive(stream, true);
}

#[cfg(test)]
#[path = "keepalive_tests.rs"]
mod tests;
