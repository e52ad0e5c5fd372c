//! The way out of all sandboxes of a server.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, OnceLock};

use rustls::ClientConfig;
use tokio::net::{TcpListener, UdpSocket};
use tokio_util::sync::CancellationToken;

use crate::buffers::bound_inside;
use crate::crowd::Crowd;
use crate::dial::Dialer;
use crate::near::stays_on_this_machine;
use crate::registries::Registries;
use crate::sandbox::SandboxEgress;
use crate::tls::{Tls, client_config, host_certificates};
use crate::urgent::urgent_as_usual;
use crate::{Attached, EgressConfig, EgressError, InsideSockets, LivePolicy, Observer};
use crate::{dns, http, socks, transparent};

/// One per server.
pub struct Egress {
    dialer: Arc<Dialer>,
    tls: Arc<ClientConfig>,
    registries: Option<Arc<Registries>>,
    crowd: Arc<Crowd>,
    /// The host's own certificates as text, once somebody needed them.
    certificates: OnceLock<String>,
}

impl Egress {
    pub fn new(config: EgressConfig) -> Result<Arc<Self>, EgressError> {
        let dialer = Arc::new(Dialer::new(&config));
        let crowd = Arc::new(Crowd::new(config.connections));
        let tls = client_config(config.trust_pem.as_deref())?;
        let registries = config.registries.map(|known| Registries::new(known, &tls, Arc::clone(&dialer)));
        let registries = registries.transpose();
        let registries = registries.map_err(EgressError::Registries)?.map(Arc::new);
        Ok(Arc::new(Self { dialer, tls, registries, crowd, certificates: OnceLock::new() }))
    }

    /// Serve the sockets of one sandbox until the answer is dropped. Must be called within a tokio runtime.
    pub fn attach(
        self: &Arc<Self>,
        sockets: InsideSockets,
        policy: LivePolicy,
        observer: Arc<dyn Observer>,
    ) -> Result<Attached, EgressError> {
        let ending = CancellationToken::new();
        let sandbox = Arc::new(SandboxEgress {
            dialer: Arc::clone(&self.dialer),
            policy,
            names: dns::SyntheticNames::default(),
            recent: crate::resolve::Recent::default(),
            meter: Arc::default(),
            observer,
            ending: ending.clone(),
            registries: self.registries.clone(),
            tls: Tls::new(Arc::clone(&self.tls)),
            told: std::sync::Mutex::default(),
            places: crate::sandbox::Places::new(self.crowd.share()),
            crowd: Arc::clone(&self.crowd),
        });
        sandbox.serve_all(sockets).inspect_err(|_| ending.cancel())?;
        Ok(Attached { _ends: ending.drop_guard(), sandbox })
    }

    /// All certificates that programs inside should trust (PEM): the host's own and that of [`Attached::authority`].
    #[must_use]
    pub fn trust_bundle(&self, authority: &str) -> String {
        let own = self.certificates.get_or_init(host_certificates);
        format!("{own}{authority}")
    }
}

impl SandboxEgress {
    pub(crate) fn serve_all(self: &Arc<Self>, sockets: InsideSockets) -> Result<(), EgressError> {
        if let Some(listener) = sockets.http_proxy {
            self.task(http::serve(Arc::clone(self), listening(listener)?));
        }
        if let Some(listener) = sockets.socks {
            self.task(socks::serve(Arc::clone(self), listening(listener)?));
        }
        if let Some(listener) = sockets.dns_tcp {
            self.task(dns::serve_tcp(Arc::clone(self), listening(listener)?));
        }
        if let Some(socket) = sockets.dns_udp {
            socket.set_nonblocking(true).map_err(EgressError::Socket)?;
            let socket = UdpSocket::from_std(socket).map_err(EgressError::Socket)?;
            self.task(dns::serve_udp(Arc::clone(self), socket));
        }
        for listener in sockets.transparent {
            self.task(transparent::serve(Arc::clone(self), listening(listener)?));
        }
        Ok(())
    }

    fn task(&self, serving: impl Future<Output = ()> + Send + 'static) {
        tokio::spawn(self.ending.clone().run_until_cancelled_owned(serving));
    }
}

fn listening(listener: std::net::TcpListener) -> Result<TcpListener, EgressError> {
    listener.set_nonblocking(true).map_err(EgressError::Socket)?;
    stays_on_this_machine(&listener);
    bound_inside(&listener);
    urgent_as_usual(&listener);
    TcpListener::from_std(listener).map_err(EgressError::Socket)
}

impl fmt::Debug for Egress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Egress").field("dialer", &self.dialer).finish_non_exhaustive()
    }
}
