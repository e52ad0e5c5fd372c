//! Makes connections: looks a name up, checks every address it leads to, and connects to one of exactly those.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};

use rustix::io::Errno;
use sandgate_core::network::{AddressGuard, DeniedAddress, Destination, inner_addresses};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::Semaphore;

use crate::EgressConfig;
use crate::buffers::Width;
use crate::denied::{Host, NoConnection, Wanted, Why};
use crate::keepalive::keep_alive;
use crate::live::{Effective, Refusal};
use crate::near::stays_on_this_machine;
use crate::race::{alternating, race};
use crate::resolve::{Recent, Resolver};
use crate::urgent::urgent_as_usual;

/// Connections that are tried beside the first of a name, in the whole server: each holds a descriptor.
const SPARE: usize = 64;
const OWN: &str = "the server's own";

#[derive(Debug)]
pub(crate) struct Dialer {
    resolver: Resolver,
    guard: AddressGuard,
    spare: Semaphore,
}

impl Dialer {
    pub(crate) fn new(config: &EgressConfig) -> Self {
        let guard = AddressGuard { allow: config.allow_private.clone() };
        Self { resolver: Resolver::new(config.resolution.clone()), guard, spare: Semaphore::new(SPARE) }
    }

    /// A connection that the policy allows to the name and to the address.
    pub(crate) async fn connect(
        &self,
        wanted: &Wanted,
        policy: &Effective,
        recent: &Recent,
        width: &Width,
    ) -> Result<TcpStream, NoConnection> {
        let failed = |why: String| NoConnection::Failed { to: wanted.to_string(), why };
        // Before anything is looked up: the question alone would tell the world something.
        policy.decide(wanted.destination()).map_err(|refusal| self.refused(wanted, refusal))?;
        let found = match &wanted.host {
            Host::Address(address) => vec![*address],
            Host::Name(name) => match recent.get(name) {
                Some(found) => found,
                None => {
                    let found = self.resolver.lookup(name, recent).await.map_err(failed)?;
                    recent.put(name, &found);
                    found
                }
            },
        };
        let allowed = self.checked(wanted, policy, found)?;
        let connecting = |address| self.connect_to(SocketAddr::new(address, wanted.port), width);
        let made = race(alternating(allowed), &self.spare, connecting).await;
        let (address, stream) = made.map_err(|error| failed(told(error.as_ref())))?;
        let checked = self.check_made(&stream, address);
        checked.map_err(|denied| wanted.denied(Why::Address(denied)))?;
        // Small writes of a proxied program are as urgent as its own were.
        let _ = stream.set_nodelay(true);
        keep_alive(&stream);
        Ok(stream)
    }

    async fn connect_to(&self, to: SocketAddr, width: &Width) -> io::Result<TcpStream> {
        let socket = if to.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        urgent_as_usual(&socket);
        width.tell(&socket);
        // An address of the host was passed by the check only if it was opened.
        if self.is_opened(to.ip()) && (to.ip().is_loopback() || is_own(to.ip())) {
            stays_on_this_machine(&socket);
        }
        socket.connect(to).await
    }

    /// Whoever is told to have an address allowed that nobody may reach would be told something else then. That it is
    /// the server's own is not said: who may not reach an address need not learn whose it is.
    fn refused(&self, wanted: &Wanted, refusal: Refusal) -> NoConnection {
        match wanted.address().map(|address| self.guard.check(address)) {
            Some(Err(denied)) => wanted.denied(Why::NoRuleCould(denied)),
            Some(Ok(())) | None => wanted.denied(Why::Rules(refusal)),
        }
    }

    /// One address that may not be reached spoils the answer: a name that leads there too is not to be trusted.
    fn checked(
        &self,
        wanted: &Wanted,
        policy: &Effective,
        found: Vec<IpAddr>,
    ) -> Result<Vec<IpAddr>, NoConnection> {
        let mut refusal = None;
        let mut allowed = Vec::new();
        for address in found {
            self.check(address).map_err(|denied| wanted.denied(Why::Address(denied)))?;
            let to = Destination { name: wanted.name(), address: Some(address), port: wanted.port };
            match policy.decide(to) {
                Ok(()) => allowed.push(address),
                Err(found) => refusal = Some(found),
            }
        }
        match refusal {
            Some(refusal) if allowed.is_empty() => Err(wanted.denied(Why::Rules(refusal))),
            _ => Ok(allowed),
        }
    }

    /// Whether anybody may connect to this address, whatever a policy says.
    pub(crate) fn check(&self, address: IpAddr) -> Result<(), DeniedAddress> {
        self.guard.check(address)?;
        if !self.is_opened(address) && carries_own(address) {
            return Err(DeniedAddress { address, why: OWN });
        }
        Ok(())
    }

    /// The operator says that sandboxes may have it, although it is denied otherwise.
    fn is_opened(&self, address: IpAddr) -> bool {
        self.guard.allow.iter().any(|range| range.contains(address))
    }

    /// Addresses of the host come and go, between the check and the connection too.
    fn check_made(&self, stream: &TcpStream, address: IpAddr) -> Result<(), DeniedAddress> {
        match (stream.local_addr(), stream.peer_addr()) {
            (Ok(local), Ok(peer)) if leads_back(local, peer, self.is_opened(address)) => {
                Err(DeniedAddress { address, why: OWN })
            }
            // Who has no peer any more has nobody to speak to.
            _ => Ok(()),
        }
    }
}

/// Whether it is the host's own, or leads there by another form: what translates it does not ask.
fn carries_own(address: IpAddr) -> bool {
    is_own(address) || inner_addresses(address).any(|four| is_own(four.into()))
}

/// Whether the host itself has this address now: the kernel would then send from it. Nothing is sent.
fn is_own(address: IpAddr) -> bool {
    let any: IpAddr = if address.is_ipv4() { [0; 4].into() } else { [0_u16; 8].into() };
    let route = UdpSocket::bind((any, 0)).and_then(|socket| {
        socket.connect((address, 9))?;
        socket.local_addr()
    });
    may_be_own(address, route.map(|from| from.ip()))
}

/// `from`: where the kernel would send from. Where it cannot say, for want of descriptors or the like, the address may
/// be its own; where there is no way to it at all, it is not.
fn may_be_own(address: IpAddr, from: io::Result<IpAddr>) -> bool {
    match from {
        Ok(from) => from == address,
        Err(error) => !matches!(
            error.raw_os_error().map(Errno::from_raw_os_error),
            Some(Errno::NETUNREACH | Errno::HOSTUNREACH | Errno::AFNOSUPPORT | Errno::ADDRNOTAVAIL)
        ),
    }
}

/// Whether a connection that was made leads to the host itself after all: `local` is then the address that was
/// connected to. One that has its own port too has nobody at its other end.
fn leads_back(local: SocketAddr, peer: SocketAddr, is_opened: bool) -> bool {
    local == peer || (local.ip().to_canonical() == peer.ip().to_canonical() && !is_opened)
}

/// None: nothing was heard of any address.
fn told(error: Option<&io::Error>) -> String {
    match error.map(io::Error::kind) {
        Some(io::ErrorKind::ConnectionRefused) => "it refused the connection".to_owned(),
        Some(io::ErrorKind::TimedOut) | None => "it does not answer".to_owned(),
        Some(io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable) => {
            "there is no way to it from this server".to_owned()
        }
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
#[path = "dial_tests.rs"]
mod tests;
