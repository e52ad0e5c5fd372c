//! How much the kernel may hold of connections that nobody takes bytes from. It counts as the server's own and not as
//! the sandbox's, and all of the host has only so much of it: who reads fast, so that buffers grow, and then no more,
//! would take it from everybody. So a few connections of a sandbox have buffers that grow, and the others small ones.

use std::fs::read_to_string;
use std::os::fd::AsFd;
use std::sync::{Arc, LazyLock};

use rustix::net::sockopt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Connections of one sandbox whose buffers grow as the kernel likes.
const WIDE: usize = 8;
/// What one of those is reckoned at, and the most that it is given where the host has no bound of that kind itself.
/// Enough for 80 MB/s at a distance of 100 ms.
const WIDEST: usize = 8 << 20;
/// The buffers of all others, each. Still fast enough to a server that is near.
const NARROW: usize = 256 << 10;
/// For what is on its way into a sandbox. There is no distance, so that more would only be more to hold.
const INSIDE: usize = 1 << 20;
/// Smaller pages there are none.
const PAGE: usize = 4 << 10;
/// What the kernel is taken to hold of TCP where it does not say, as in a container.
const USUAL: usize = 1 << 30;

/// Places of connections whose buffers grow. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct WidePlaces(Arc<Semaphore>);

impl Default for WidePlaces {
    /// For one sandbox.
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(WIDE)))
    }
}

impl WidePlaces {
    /// For all of a server: a quarter of what the kernel holds of TCP at all.
    pub(crate) fn of_all() -> Self {
        let most = last_number("/proc/sys/net/ipv4/tcp_mem").map(|pages| pages.saturating_mul(PAGE));
        Self(Arc::new(Semaphore::new(places_in(most))))
    }

    fn take(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0).try_acquire_owned().ok()
    }
}

fn places_in(most: Option<usize>) -> usize {
    let fitting = most.unwrap_or(USUAL) / 4 / WIDEST;
    fitting.clamp(WIDE, Semaphore::MAX_PERMITS)
}

/// How wide one connection is, and its place among those that are.
#[derive(Debug)]
pub(crate) enum Width {
    Wide { _places: [OwnedSemaphorePermit; 2] },
    Narrow,
}

impl Width {
    pub(crate) fn of(own: &WidePlaces, all: &WidePlaces) -> Self {
        match (own.take(), all.take()) {
            (Some(own), Some(all)) => Self::Wide { _places: [own, all] },
            _ => Self::Narrow,
        }
    }

    /// For a socket that will connect: later the other side was told of more already. Best effort, as are the others.
    pub(crate) fn tell(&self, socket: impl AsFd) {
        let socket = socket.as_fd();
        match self {
            Self::Narrow => {
                receive_at_most(socket, NARROW);
                send_at_most(socket, NARROW);
            }
            Self::Wide { .. } => {
                if HOST.receives_more {
                    receive_at_most(socket, WIDEST);
                }
                if HOST.sends_more {
                    send_at_most(socket, WIDEST);
                }
            }
        }
    }
}

/// Whether buffers that grow would pass what a wide connection is reckoned at, and can be told not to: who gets less
/// than that when he asks for it is better off with what the kernel chooses.
struct Host {
    receives_more: bool,
    sends_more: bool,
}

static HOST: LazyLock<Host> = LazyLock::new(|| {
    let passes = |grows_to: &str, can_be_told: &str| {
        last_number(grows_to).is_some_and(|most| most > WIDEST)
            && last_number(can_be_told).is_some_and(|most| most >= WIDEST / 2)
    };
    Host {
        receives_more: passes("/proc/sys/net/ipv4/tcp_rmem", "/proc/sys/net/core/rmem_max"),
        sends_more: passes("/proc/sys/net/ipv4/tcp_wmem", "/proc/sys/net/core/wmem_max"),
    }
});

/// For a socket inside that listens, and for all that it accepts.
pub(crate) fn bound_inside(listener: impl AsFd) {
    send_at_most(listener, INSIDE);
}

/// The kernel takes twice what it is told, for what it needs itself.
fn receive_at_most(socket: impl AsFd, bytes: usize) {
    let _ = sockopt::set_socket_recv_buffer_size(socket, bytes / 2);
}

fn send_at_most(socket: impl AsFd, bytes: usize) {
    let _ = sockopt::set_socket_send_buffer_size(socket, bytes / 2);
}

/// Of a setting with one number, or with three: the least, the usual and the most.
fn last_number(setting: &str) -> Option<usize> {
    read_to_string(setting).ok()?.split_whitespace().last()?.parse().ok()
}

#[cfg(test)]
#[path = "buffers_tests.rs"]
mod tests;
