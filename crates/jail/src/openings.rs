//! The sockets by which a sandbox reaches what is outside: opened in its empty network namespace, where they
//! stay, and handed to whoever serves them from outside.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::str::FromStr;

use crate::process::SingleThreaded;
use crate::sys::{self, Forked};
use crate::{Result, StepError};

const STEP: &str = "opening a way out of a sandbox";

/// One thing to be made in a sandbox's network namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// Gives a listening socket.
    Tcp(SocketAddr),
    /// Gives a bound socket.
    Udp(SocketAddr),
    /// All addresses of a network lead to whoever listens on all addresses. Gives nothing.
    LocalRoute { network: Ipv4Addr, prefix: u8 },
}

/// As it is written in a request to the spawner.
impl fmt::Display for Opening {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(to, "tcp {address}"),
            Self::Udp(address) => write!(to, "udp {address}"),
            Self::LocalRoute { network, prefix } => write!(to, "route {network} {prefix}"),
        }
    }
}

impl FromStr for Opening {
    type Err = StepError;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || StepError::new(STEP, std::io::ErrorKind::InvalidInput.into()).on(text);
        let words: Vec<&str> = text.split(' ').collect();
        match words.as_slice() {
            ["tcp", address] => Ok(Self::Tcp(address.parse().map_err(|_| wrong())?)),
            ["udp", address] => Ok(Self::Udp(address.parse().map_err(|_| wrong())?)),
            ["route", network, prefix] => Ok(Self::LocalRoute {
                network: network.parse().map_err(|_| wrong())?,
                prefix: prefix.parse().ok().filter(|prefix| *prefix <= 32).ok_or_else(wrong)?,
            }),
            _ => Err(wrong()),
        }
    }
}

/// Makes all of it in the network namespace of the sandbox behind `sandbox`; sockets in the order asked for.
/// Nothing is left open when one fails.
///
/// A child does it: the caller itself never leaves its own namespaces, and so cannot fail to come back. It needs
/// no right inside the sandbox beyond what the caller has over it, and nothing there can see or trace it.
pub fn open_in_sandbox(
    alone: &SingleThreaded,
    sandbox: BorrowedFd<'_>,
    openings: &[Opening],
) -> Result<Vec<OwnedFd>> {
    let (ours, theirs) = sys::packet_pair()?;
    match alone.fork()? {
        Forked::Child => {
            let done = open_here(sandbox, openings).and_then(|sockets| {
                let sockets: Vec<BorrowedFd<'_>> = sockets.iter().map(AsFd::as_fd).collect();
                sys::send_message(theirs.as_fd(), b"opened", &sockets)
            });
            if let Err(error) = done {
                let _ = sys::send_message(theirs.as_fd(), error.to_string().as_bytes(), &[]);
            }
            sys::exit_now(0)
        }
        Forked::Parent { .. } => {
            drop(theirs);
            let mut answer = [0u8; 1024];
            let (length, sockets) = sys::receive_message(ours.as_fd(), &mut answer)?;
            let wanted = openings.iter().filter(|opening| opening.gives_socket()).count();
            match &answer[..length] {
                b"opened" if sockets.len() == wanted => Ok(sockets),
                reason => {
                    let reason = String::from_utf8_lossy(reason).into_owned();
                    Err(StepError::new(STEP, std::io::Error::other(reason)))
                }
            }
        }
    }
}

impl Opening {
    fn gives_socket(&self) -> bool {
        !matches!(self, Self::LocalRoute { .. })
    }
}

fn open_here(sandbox: BorrowedFd<'_>, openings: &[Opening]) -> Result<Vec<OwnedFd>> {
    sys::setns(sandbox, libc::CLONE_NEWNET)?;
    // Everything in there stays on this machine, where pacing, as the host may have it for the way to others, would
    // only be slow. Best effort: without it all works as well.
    let _ = std::fs::write("/proc/sys/net/ipv4/tcp_congestion_control", "reno");
    let mut sockets = Vec::with_capacity(openings.len());
    for opening in openings {
        let failed = |error| StepError::new(STEP, error).on(opening.to_string());
        match opening {
            // Never shared: nobody inside can listen beside us on the same port.
            Opening::Tcp(address) => sockets.push(TcpListener::bind(address).map_err(failed)?.into()),
            Opening::Udp(address) => sockets.push(UdpSocket::bind(address).map_err(failed)?.into()),
            Opening::LocalRoute { network, prefix } => sys::add_local_route(*network, *prefix)?,
        }
    }
    Ok(sockets)
}

/// The same port on an address of the loopback device.
#[must_use]
pub fn loopback(port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)
}

/// The same port on all addresses.
#[must_use]
pub fn everywhere(port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), port)
}

#[cfg(test)]
#[path = "openings_tests.rs"]
mod tests;
