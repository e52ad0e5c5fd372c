//! Connections to registries, and to where their pages and redirections lead. Whoever may publish there could name
//! anything; so what is not the registry itself is held to the addresses that sandboxes are held to.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpStream, lookup_host};
use tower_service::Service;

use crate::dial::Dialer;
use crate::keepalive::keep_alive;

/// A host and a port.
pub(super) type Place = (String, u16);

/// One address, where a name has several.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Clone)]
pub(super) struct Guarded(Arc<Known>);

struct Known {
    dialer: Arc<Dialer>,
    /// The operator's registries, which may be anywhere.
    own: Vec<Place>,
}

impl Guarded {
    pub(super) fn new(dialer: Arc<Dialer>, own: Vec<Place>) -> Self {
        Self(Arc::new(Known { dialer, own }))
    }
}

impl Known {
    async fn connect(&self, place: Place) -> io::Result<TcpStream> {
        let found: Vec<SocketAddr> = lookup_host((place.0.as_str(), place.1)).await?.collect();
        if !self.own.contains(&place) {
            self.check(&found).await?;
        }
        let mut last = io::ErrorKind::NotFound.into();
        for address in found {
            match tokio::time::timeout(PATIENCE, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => {
                    stream.set_nodelay(true)?;
                    keep_alive(&stream);
                    return Ok(stream);
                }
                Ok(Err(error)) => last = error,
                Err(_) => last = io::ErrorKind::TimedOut.into(),
            }
        }
        Err(last)
    }

    /// One address that may not be reached spoils the answer, as it does for sandboxes. Who stands behind the very
    /// address and port of a registry is no more than that registry: a mirror for several names is one.
    async fn check(&self, found: &[SocketAddr]) -> io::Result<()> {
        let denied = |address: &SocketAddr| self.dialer.check(address.ip().to_canonical()).err();
        let Some((address, why)) = found.iter().find_map(|one| denied(one).map(|why| (*one, why))) else {
            return Ok(());
        };
        for (host, port) in self.own.iter().filter(|(_, port)| *port == address.port()) {
            let registry: Vec<SocketAddr> = lookup_host((host.as_str(), *port)).await?.collect();
            if found.iter().all(|one| registry.contains(one) || denied(one).is_none()) {
                return Ok(());
            }
        }
        Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
    }
}

/// Where a URL leads.
pub(super) fn place(uri: &Uri) -> Option<Place> {
    let host = uri.host()?;
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let usual = if uri.scheme_str() == Some("https") { 443 } else { 80 };
    Some((host.to_ascii_lowercase(), uri.port_u16().unwrap_or(usual)))
}

impl Service<Uri> for Guarded {
    type Response = TokioIo<TcpStream>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let known = Arc::clone(&self.0);
        Box::pin(async move {
            let place = place(&to).ok_or(io::ErrorKind::InvalidInput)?;
            known.connect(place).await.map(TokioIo::new)
        })
    }
}
