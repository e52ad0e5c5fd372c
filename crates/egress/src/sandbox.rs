//! Everything one sandbox has at the egress, shared by all that serves its sockets.

use std::collections::HashSet;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sandgate_core::network::HostName;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::crowd::Crowd;
use crate::denied::{Denied, Host, NoConnection, Wanted, Why};
use crate::dial::Dialer;
use crate::dns::{SyntheticNames, is_synthetic};
use crate::keepalive::keep_alive;
use crate::live::Refusal;
use crate::meter::{Meter, Ticket};
use crate::observer::{Seen, SeenVerdict};
use crate::rate::Rate;
use crate::registries::{MOST_UNREAD, Registries};
use crate::resolve::Recent;
use crate::tls::Tls;
use crate::{LivePolicy, Observer, Way};

/// Refused names that are told of one by one; after these, one of them a second stands for all.
const MOST_TOLD: usize = 256;
/// Connections from inside that are served at once, on all ports together and whatever they want: some of them only
/// to hear why not.
const MOST_SERVED: usize = 512;
/// Pages and files of registries that are fetched or delivered at once. What has to wait waits.
const MOST_FETCHED: usize = 8;
/// Connections from inside, whatever they want. More wait to be taken, so that a sandbox's haste costs itself.
const ACCEPTED_PER_SECOND: u32 = 1000;
const QUESTIONS_PER_SECOND: u32 = 2000;
/// Pages and files of registries: what installs asks in bursts, and each may be a question to the operator's registry.
const PACKAGES_PER_SECOND: u32 = 100;
/// Answers of the proxy's own to what leads nowhere; one connection can ask for many.
const OWN_ANSWERS_PER_SECOND: u32 = 100;
/// For an answer to who asks too often.
const SLOW_ANSWER: Duration = Duration::from_millis(250);

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
    pub(crate) crowd: Arc<Crowd>,
}

/// How much of the server one sandbox holds at once.
pub(crate) struct Places {
    served: Arc<Semaphore>,
    pub(crate) fetched: Arc<Semaphore>,
    /// For pages of registries that were made and are not read yet.
    pub(crate) unread: Arc<Semaphore>,
    accepted: Rate,
    opened: Rate,
    questions: Rate,
    packages: Rate,
    own_answers: Rate,
    /// Refusals that are told although there are too many of them, and how many were not.
    tellings: Rate,
    untold: AtomicU64,
    /// The same for names that were asked for.
    names_told: Rate,
    untold_names: AtomicU64,
}

impl Places {
    /// `share` of what is served at once for all.
    pub(crate) fn new(share: usize) -> Self {
        let places = |count| Arc::new(Semaphore::new(count));
        Self {
            served: places(MOST_SERVED.min(share)),
            fetched: places(MOST_FETCHED),
            unread: places(MOST_UNREAD),
            accepted: Rate::default(),
            opened: Rate::default(),
            questions: Rate::default(),
            packages: Rate::default(),
            own_answers: Rate::default(),
            tellings: Rate::default(),
            untold: AtomicU64::new(0),
            names_told: Rate::default(),
            untold_names: AtomicU64::new(0),
        }
    }
}

impl SandboxEgress {
    /// What can be reached is decided by rules; how much, here. The ticket says at its end what became of it.
    pub(crate) async fn ticket(&self, way: Way, wanted: &Wanted) -> Result<Ticket, NoConnection> {
        let limits = self.policy.now().limits;
        let limit = limits.connections_per_second;
        // Packages come over few connections, and have a rate of their own, which is waited for.
        if way != Way::Registry && !self.places.opened.allows(limit) {
            let why = wanted.denied(Why::TooFast { limit });
            self.told_slowly(way, &why).await;
            return Err(why);
        }
        let Some(place) = self.crowd.connection() else {
            let why = wanted.denied(Why::Crowded { limit: self.crowd.limit });
            self.told_slowly(way, &why).await;
            return Err(why);
        };
        let ticket = Ticket::new(&self.meter, Arc::clone(&self.observer), way, wanted, place);
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
        mut ticket: Ticket,
    ) -> Result<(TcpStream, Ticket), NoConnection> {
        let policy = self.policy.now();
        match self.dialer.connect(wanted, &policy, &self.recent, ticket.width()).await {
            Ok(stream) => {
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

    /// One that did not even get as far as having a destination. Gives the reason back, to be answered with.
    pub(crate) async fn refused(&self, way: Way, why: NoConnection) -> NoConnection {
        if self.places.opened.allows(self.policy.now().limits.connections_per_second) {
            self.tell(way, &why, 1);
        } else {
            self.told_slowly(way, &why).await;
        }
        why
    }

    /// Who asks all the time waits for its answers, and is told of once a second.
    async fn told_slowly(&self, way: Way, why: &NoConnection) {
        self.places.untold.fetch_add(1, Ordering::AcqRel);
        if self.places.tellings.allows(1) {
            self.tell(way, why, self.places.untold.swap(0, Ordering::AcqRel));
        }
        tokio::time::sleep(SLOW_ANSWER).await;
    }

    fn tell(&self, way: Way, why: &NoConnection, times: u64) {
        let (name, verdict) = match why {
            NoConnection::Denied(denied) => (denied.host.clone(), SeenVerdict::Denied(denied.to_string())),
            NoConnection::Failed { to, why } => (to.clone(), SeenVerdict::Failed(why.clone())),
        };
        self.seen(way, name, 0, times, verdict);
    }

    fn seen(&self, way: Way, name: String, port: u16, times: u64, verdict: SeenVerdict) {
        let (name, address, took) = (Some(name), None, Duration::ZERO);
        self.observer.seen(Seen { way, name, address, port, sent: 0, received: 0, took, times, verdict });
    }

    /// Each name is told once, as long as there are not too many: questions are cheap to ask. Then they are counted, so
    /// that who asks for many names first hides nothing behind them.
    pub(crate) fn refused_question(&self, name: &str, why: &str) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.contains(name) {
            return;
        }
        let mut times = 1;
        if told.len() < MOST_TOLD {
            told.insert(name.to_owned());
        } else {
            self.places.untold_names.fetch_add(1, Ordering::AcqRel);
            if !self.places.names_told.allows(1) {
                return;
            }
            times = self.places.untold_names.swap(0, Ordering::AcqRel);
        }
        drop(told);
        self.seen(Way::Dns, name.to_owned(), 53, times, SeenVerdict::Denied(why.to_owned()));
    }

    /// Questions cost the server as much as whoever asks them; who asks too many waits.
    pub(crate) async fn question_turn(&self) {
        while !self.places.questions.allows(QUESTIONS_PER_SECOND) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// The same for packages.
    pub(crate) async fn package_turn(&self) {
        while !self.places.packages.allows(PACKAGES_PER_SECOND) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The same for answers that are made here, but that each waits for itself.
    pub(crate) async fn own_answer_turn(&self) {
        if !self.places.own_answers.allows(OWN_ANSWERS_PER_SECOND) {
            tokio::time::sleep(SLOW_ANSWER).await;
        }
    }

    /// An address that our name server gave out stands for its name: programs look names up themselves and then ask a
    /// proxy for what they got.
    pub(crate) fn by_name(&self, wanted: Wanted) -> Wanted {
        match wanted.host {
            Host::Address(address) if is_synthetic(address) => match self.names.name_of(address) {
                Some(name) => Wanted { host: Host::Name(name), ..wanted },
                None => wanted,
            },
            Host::Address(_) | Host::Name(_) => wanted,
        }
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
                    keep_alive(&stream);
                    // Not before: of all that listen, most wait for ever.
                    let Some(among_all) = self.crowd.served().await else { return };
                    while !self.places.accepted.allows(ACCEPTED_PER_SECOND) {
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                    let ending = self.ending.clone();
                    let serving = serve(stream);
                    tokio::spawn(async move {
                        let _places = (place, among_all);
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
