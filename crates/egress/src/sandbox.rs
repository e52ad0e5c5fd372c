//! Everything one sandbox has at the egress, shared by all that serves its sockets.

use std::collections::HashSet;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sandgate_core::network::HostName;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::denied::{Denied, Host, NoConnection, Wanted, Why};
use crate::dial::Dialer;
use crate::dns::SyntheticNames;
use crate::live::Refusal;
use crate::meter::{Meter, Ticket};
use crate::observer::{Seen, SeenVerdict};
use crate::registries::Registries;
use crate::resolve::Recent;
use crate::tls::Tls;
use crate::{LivePolicy, Observer, Way};

/// Refused names that are told; after these, they are only refused.
const MOST_TOLD: usize = 256;
/// Connections from inside that are served at once, on all ports together and whatever they want: some of them only
/// to hear why not.
const MOST_SERVED: usize = 512;
/// Pages and files of registries that are fetched or delivered at once. What has to wait waits.
const MOST_FETCHED: usize = 8;

pub(crate) struct SandboxEgress {
    pub(crate) dialer: Arc<Dialer>,
    pub(crate) policy: LivePolicy,
    pub(crate) names: SyntheticNames,
    pub(crate) recent: Recent,
    pub(crate) meter: Arc<Meter>,
    pub(crate) observer: Arc<dyn Observer>,
    pub(crate) ending: CancellationToken,
    pub(crate) tls: Tls,
    pub(crate) registries: Option<Arc<Registries>>,
    pub(crate) told: Mutex<HashSet<String>>,
    pub(crate) places: Places,
}

/// How much of the server one sandbox holds at once.
pub(crate) struct Places {
    served: Arc<Semaphore>,
    pub(crate) fetched: Arc<Semaphore>,
}

impl Default for Places {
    fn default() -> Self {
        let places = |count| Arc::new(Semaphore::new(count));
        Self { served: places(MOST_SERVED), fetched: places(MOST_FETCHED) }
    }
}

impl SandboxEgress {
    /// What can be reached is decided by rules; how much, here. The ticket says at its end what became of it.
    pub(crate) fn ticket(&self, way: Way, wanted: &Wanted) -> Result<Ticket, NoConnection> {
        let limits = self.policy.now().limits;
        let ticket = Ticket::new(&self.meter, Arc::clone(&self.observer), way, wanted);
        let refused = match limits.bytes {
            Some(limit) if self.meter.spent() >= limit => Some(Why::Spent { limit }),
            _ if !ticket.has_place(limits.connections) => Some(Why::TooMany { limit: limits.connections }),
            _ => None,
        };
        match refused {
            Some(why) => Err(ticket.refused(wanted.denied(why))),
            None => Ok(ticket),
        }
    }

    /// The connection itself, if it may be made.
    pub(crate) async fn connect(
        &self,
        wanted: &Wanted,
        ticket: Ticket,
    ) -> Result<(TcpStream, Ticket), NoConnection> {
        let policy = self.policy.now();
        match self.dialer.connect(wanted, &policy, &self.recent).await {
            Ok(stream) => {
                let mut ticket = ticket;
                ticket.reached(stream.peer_addr().ok().map(|peer| peer.ip()));
                Ok((stream, ticket))
            }
            Err(error) => Err(ticket.refused(error)),
        }
    }

    pub(crate) fn may_resolve(&self, name: &HostName) -> Result<(), Denied> {
        let allowed = !name.is_local() && self.policy.now().may_resolve(name);
        let why = Why::Rules(Refusal::NotAllowed);
        if allowed { Ok(()) } else { Err(Denied { to: name.to_string(), host: name.to_string(), why }) }
    }

    /// One that did not even get as far as having a destination.
    pub(crate) fn refused(&self, way: Way, why: &NoConnection) {
        let (name, verdict) = match why {
            NoConnection::Denied(denied) => (denied.host.clone(), SeenVerdict::Denied(denied.to_string())),
            NoConnection::Failed { to, why } => (to.clone(), SeenVerdict::Failed(why.clone())),
        };
        self.tell(way, name, 0, verdict);
    }

    fn tell(&self, way: Way, name: String, port: u16, verdict: SeenVerdict) {
        let (name, address, took) = (Some(name), None, Duration::ZERO);
        self.observer.seen(Seen { way, name, address, port, sent: 0, received: 0, took, verdict });
    }

    /// Each name is told once, and not more than a bounded number of them: questions are cheap to ask.
    pub(crate) fn refused_question(&self, name: &str, why: &str) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() >= MOST_TOLD || !told.insert(name.to_owned()) {
            return;
        }
        drop(told);
        self.tell(Way::Dns, name.to_owned(), 53, SeenVerdict::Denied(why.to_owned()));
    }

    /// Ends when a change of the policy no longer allows what is connected.
    pub(crate) async fn revoked(&self, wanted: &Wanted, address: Option<std::net::IpAddr>) -> Denied {
        let mut changes = self.policy.watch();
        loop {
            let now = changes.borrow_and_update().clone();
            let mut to = wanted.destination();
            to.address = to.address.or(address);
            if let Err(refusal) = now.decide(to) {
                let why = Why::Rules(refusal);
                return Denied { to: wanted.to_string(), host: wanted.host.to_string(), why };
            }
            if changes.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Take connections from inside, each served in a task of its own, until the sandbox ends.
    pub(crate) async fn accept<F>(self: Arc<Self>, listener: TcpListener, serve: impl Fn(TcpStream) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        loop {
            let Ok(place) = Arc::clone(&self.places.served).acquire_owned().await else { return };
            match listener.accept().await {
                Ok((stream, _)) => {
                    let _ = stream.set_nodelay(true);
                    let ending = self.ending.clone();
                    let serving = serve(stream);
                    tokio::spawn(async move {
                        let _place = place;
                        ending.run_until_cancelled(serving).await;
                    });
                }
                // Out of descriptors, most likely: for a moment.
                Err(error) => {
                    tracing::warn!(%error, "a connection from a sandbox cannot be accepted");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }
}

/// A host as programs write it: an address in its usual form, or a name.
pub(crate) fn read_host(text: &str, port: u16) -> Result<Wanted, NoConnection> {
    let denied = |why: String| {
        let shown: String = text.chars().take(80).collect();
        NoConnection::Denied(Denied { to: format!("{shown}:{port}"), host: shown, why: Why::NotAHost(why) })
    };
    let host = match sandgate_core::network::parse_address(text) {
        Some(address) => Host::Address(address),
        None => match text.parse::<HostName>() {
            Ok(name) if name.is_local() => {
                return Err(denied(format!(
                    "'{name}' is the sandbox itself; connect to it without the proxy"
                )));
            }
            Ok(name) => Host::Name(name),
            Err(error) => return Err(denied(error.to_string())),
        },
    };
    Ok(Wanted { host, port })
}
