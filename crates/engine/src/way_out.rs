//! A sandbox's way out: sockets in its empty network namespace, opened when its policy first allows anything, and
//! served by the egress from outside. A sandbox that may reach nothing has none of this.

use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use sandgate_core::network::NetworkPolicy;
use sandgate_core::{BackendError, Files, Result, SandboxId, SandboxPath};
use sandgate_egress::{Attached, InsideSockets, LivePolicy, Observer, Seen, registry_env};
use sandgate_jail::openings::{Opening, loopback};
use tokio::sync::Mutex;

use crate::files::VolumeFiles;
use crate::made_inside::{DNS, HTTP_PROXY, Made, SOCKS};
use crate::network::Network;
use crate::shared::{Shared, blocking};

const TAKEN: &str = "Address already in use";
/// Where the certificates are inside, and the variables by which programs find them.
const BUNDLE: &str = "/home/user/.sandgate/certificates.pem";
const TRUST: [&str; 7] = [
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "PIP_CERT",
    "GIT_SSL_CAINFO",
    "AWS_CA_BUNDLE",
];
/// What names are answered with: addresses that stand for a name and lead nowhere else.
const NAMES: Opening = Opening::LocalRoute { network: Ipv4Addr::new(198, 18, 0, 0), prefix: 15 };

#[derive(Debug, Default)]
pub(crate) struct WayOut(Mutex<Option<Open>>);

#[derive(Debug)]
struct Open {
    policy: LivePolicy,
    /// What is listened on, and which routes there are.
    made: Made,
    attached: Attached,
}

impl WayOut {
    /// From now on `policy` says what is reached. The first that allows anything opens the sockets. Where it has
    /// secrets, programs inside find the certificates that they must trust for them. What can go wrong comes before the
    /// policy counts: one that is refused changes nothing.
    pub(crate) async fn set(
        &self,
        shared: &Arc<Shared>,
        id: &SandboxId,
        init: &OwnedFd,
        files: &VolumeFiles,
        policy: NetworkPolicy,
    ) -> Result<()> {
        let mut open = self.0.lock().await;
        if open.is_none() && policy.is_disabled() {
            return Ok(());
        }
        let network = shared.network.as_ref().ok_or(BackendError::Unsupported("a network"))?;
        let wanted = Made::wanted(&policy);
        let first = match &mut *open {
            None => Some(Open::first(shared, network, id, init, wanted).await?),
            Some(open) => {
                open.widen(shared, init, wanted).await?;
                None
            }
        };
        let Some(now) = first.as_ref().or(open.as_ref()) else { return Ok(()) };
        // Only for these: code could keep its network open by standing in the way of a file that is not needed.
        if !policy.secrets.is_empty() {
            let authority = now.attached.authority().map_err(|error| failed(&error))?;
            let certificates = network.egress.trust_bundle(authority);
            files.write(&SandboxPath::parse(BUNDLE)?, &mut certificates.as_bytes()).await?;
        }
        now.policy.exchange(policy);
        if first.is_some() {
            *open = first;
        }
        Ok(())
    }

    /// Ends every connection.
    pub(crate) async fn close(&self) {
        *self.0.lock().await = None;
    }
}

impl Open {
    /// Everything is there, and nothing is reached yet.
    async fn first(
        shared: &Arc<Shared>,
        network: &Network,
        id: &SandboxId,
        init: &OwnedFd,
        made: Made,
    ) -> Result<Self> {
        let mut openings = vec![
            Opening::Tcp(loopback(HTTP_PROXY)),
            Opening::Tcp(loopback(SOCKS)),
            Opening::Tcp(loopback(DNS)),
            Opening::Udp(loopback(DNS)),
            NAMES,
        ];
        let (needed, made) = made.beside(&Made::default()).map_err(BackendError::Invalid)?;
        openings.extend(needed);
        let mut sockets = opened(shared, init, openings).await?.into_iter();
        let mut tcp = || sockets.next().map(TcpListener::from);
        let (http_proxy, socks, dns_tcp) = (tcp(), tcp(), tcp());
        let dns_udp = sockets.next().map(UdpSocket::from);
        let transparent = sockets.map(TcpListener::from).collect();
        let sockets = InsideSockets { http_proxy, socks, dns_udp, dns_tcp, transparent };
        let policy = network.live(NetworkPolicy::disabled());
        let attached = attach(network, id, sockets, &policy)?;
        Ok(Self { policy, made, attached })
    }

    /// Listens on ports that an earlier policy did not name.
    async fn widen(&mut self, shared: &Arc<Shared>, init: &OwnedFd, wanted: Made) -> Result<()> {
        let (openings, made) = wanted.beside(&self.made).map_err(BackendError::Invalid)?;
        if openings.is_empty() {
            return Ok(());
        }
        let sockets = opened(shared, init, openings).await?;
        let listening = self.attached.listen(sockets.into_iter().map(TcpListener::from).collect());
        listening.map_err(|error| failed(&error))?;
        self.made = made;
        Ok(())
    }
}

async fn opened(shared: &Arc<Shared>, init: &OwnedFd, openings: Vec<Opening>) -> Result<Vec<OwnedFd>> {
    let init = init.try_clone().map_err(|error| failed(&error))?;
    let shared = Arc::clone(shared);
    let sockets = blocking(move || shared.helper.open_in_sandbox(init.as_fd(), &openings)).await?;
    sockets.map_err(|error| {
        let error = error.to_string();
        // As the kernel says it, through the spawner.
        match error.contains(TAKEN) {
            true => BackendError::Invalid(format!(
                "a program in the sandbox listens on a port that its network needs: {error}"
            )),
            false => failed(&error),
        }
    })
}

fn attach(
    network: &Network,
    id: &SandboxId,
    sockets: InsideSockets,
    policy: &LivePolicy,
) -> Result<Attached> {
    let observer = Arc::new(OfSandbox { id: id.clone(), told: network.told.clone() });
    let attached = network.egress.attach(sockets, policy.clone(), observer);
    attached.map_err(|error| failed(&error))
}

fn failed(error: &dyn std::fmt::Display) -> BackendError {
    BackendError::Engine(format!("no way out: {error}"))
}

/// Says of each connection whose it was.
struct OfSandbox {
    id: SandboxId,
    told: crate::network::Told,
}

impl Observer for OfSandbox {
    fn seen(&self, seen: Seen) {
        (self.told)(&self.id, seen);
    }
}

/// What programs need to know that go by a proxy when they are told of one.
pub(crate) fn variables(policy: &NetworkPolicy) -> Vec<(String, String)> {
    if policy.is_disabled() {
        return Vec::new();
    }
    let http = format!("http://127.0.0.1:{HTTP_PROXY}");
    let own = "localhost,127.0.0.1,::1";
    let mut all = Vec::new();
    for (name, value) in [("HTTP_PROXY", &*http), ("HTTPS_PROXY", &http), ("NO_PROXY", own)] {
        all.push((name.to_owned(), value.to_owned()));
        all.push((name.to_lowercase(), value.to_owned()));
    }
    // For what is neither. pip and requests need a package of their own for SOCKS and fail without it; the other
    // proxy tunnels any protocol as well.
    for name in ["ALL_PROXY", "all_proxy"] {
        all.push((name.to_owned(), http.clone()));
    }
    if policy.registries {
        all.extend(registry_env(loopback(HTTP_PROXY)));
    }
    if !policy.secrets.is_empty() {
        all.extend(TRUST.iter().map(|name| ((*name).to_owned(), BUNDLE.to_owned())));
    }
    all.extend(policy.secrets.iter().map(|secret| (secret.name.clone(), secret.placeholder.clone())));
    all
}

#[cfg(test)]
#[path = "way_out_tests.rs"]
mod tests;
