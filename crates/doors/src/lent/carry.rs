//! What listens on a port inside a sandbox, from outside: HTTP both ways as it comes, and websockets.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CONNECTION, HOST, TE, TRAILER, TRANSFER_ENCODING, UPGRADE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use hyper::client::conn::http1;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use sandgate_core::{BackendError, Leases, Owner, Sandbox};
use tokio::io::copy_bidirectional;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::cut_when;
use super::inner_tls::over_tls;

const CONTENT_SECURITY_POLICY: HeaderName = HeaderName::from_static("content-security-policy");
const X_CONTENT_TYPE_OPTIONS: HeaderName = HeaderName::from_static("x-content-type-options");
/// What concerns one connection only.
const HOP_BY_HOP: [HeaderName; 5] = [CONNECTION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];
const MORE_HOP_BY_HOP: [&str; 4] =
    ["keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization"];
/// A page that code inside made, on the address of the whole server: it must not act as if it were the server's.
const NO_ORIGIN: &str = "sandbox allow-scripts allow-forms allow-popups allow-modals allow-downloads";
/// What would count for everything at the server's address.
const OF_THE_WHOLE_ORIGIN: [&str; 4] =
    ["set-cookie", "clear-site-data", "strict-transport-security", "service-worker-allowed"];
/// Connections into the sandboxes of one door that became something else than HTTP, at once.
const MOST_TUNNELS: usize = 1024;
const MOST_OF_AN_OWNER: usize = 256;

/// Room for connections that became something else than HTTP.
#[derive(Clone, Debug)]
pub(crate) struct Tunnels {
    all: Arc<Semaphore>,
    /// How many each owner has.
    by_owner: Arc<Mutex<HashMap<Owner, usize>>>,
}

impl Default for Tunnels {
    fn default() -> Self {
        Self { all: Arc::new(Semaphore::new(MOST_TUNNELS)), by_owner: Arc::default() }
    }
}

impl Tunnels {
    /// None: there is no room for another one.
    fn enter(&self, owner: &Owner) -> Option<Room> {
        let permit = Arc::clone(&self.all).try_acquire_owned().ok()?;
        let mut by_owner = lock(&self.by_owner);
        let count = by_owner.entry(owner.clone()).or_default();
        if *count >= MOST_OF_AN_OWNER {
            return None;
        }
        *count += 1;
        Some(Room { by_owner: Arc::clone(&self.by_owner), owner: owner.clone(), _permit: permit })
    }
}

/// The place of one tunnel, until it is dropped.
#[derive(Debug)]
struct Room {
    by_owner: Arc<Mutex<HashMap<Owner, usize>>>,
    owner: Owner,
    _permit: OwnedSemaphorePermit,
}

impl Drop for Room {
    fn drop(&mut self) {
        let mut by_owner = lock(&self.by_owner);
        if let Some(count) = by_owner.get_mut(&self.owner) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                by_owner.remove(&self.owner);
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where a request goes.
#[derive(Debug)]
pub(crate) struct Way<'a> {
    pub(crate) leases: &'a Leases,
    /// Of the lease.
    pub(crate) id: &'a str,
    pub(crate) owner: &'a Owner,
    pub(crate) sandbox: &'a Arc<dyn Sandbox>,
    pub(crate) port: u16,
    pub(crate) tunnels: &'a Tunnels,
    /// It came by a path of the server's, and not by a name of the sandbox's own.
    pub(crate) is_by_path: bool,
    /// What listens there speaks TLS.
    pub(crate) is_over_tls: bool,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum NotCarried {
    #[error("nothing listens on the port")]
    Closed,
    #[error("what listens on the port gave no answer")]
    NoAnswer,
    #[error("what listens on the port does not speak TLS")]
    NoTls,
    #[error("the port switched protocols unasked")]
    Unasked,
    #[error("there are as many open tunnels as there may be")]
    TooManyTunnels,
    #[error("the path of the request cannot be read")]
    BadPath,
    #[error(transparent)]
    Backend(BackendError),
}

impl From<BackendError> for NotCarried {
    fn from(error: BackendError) -> Self {
        match error {
            BackendError::PortClosed(_) => Self::Closed,
            error => Self::Backend(error),
        }
    }
}

/// Carries the request to the port and the answer back. `request`: without what is nobody's but the door's.
pub(crate) async fn carry(way: &Way<'_>, mut request: Request) -> Result<Response, NotCarried> {
    let mut connection = way.sandbox.inside().await?.connect(way.port).await?;
    if way.is_over_tls {
        connection = over_tls(connection).await.map_err(|error| {
            tracing::debug!(%error, "a port of a sandbox speaks no TLS");
            NotCarried::NoTls
        })?;
    }
    // As most clients write them: small servers that people write go by it.
    let handshake =
        http1::Builder::new().title_case_headers(true).handshake::<_, Body>(TokioIo::new(connection));
    let (mut sender, connection) = handshake.await.map_err(|_| NotCarried::Closed)?;
    tokio::spawn(async move {
        if let Err(error) = connection.with_upgrades().await {
            tracing::debug!(%error, "a connection to a port of a sandbox ended early");
        }
    });
    let upgrade = upgrade(request.headers());
    let client = request.extensions_mut().remove::<OnUpgrade>();
    let sent = sender.send_request(inward(request, upgrade.as_ref())?).await;
    let mut response = sent.map_err(|error| {
        tracing::debug!(%error, "a port of a sandbox gave no answer");
        NotCarried::NoAnswer
    })?;
    let is_upgrade = response.status() == StatusCode::SWITCHING_PROTOCOLS;
    if is_upgrade {
        let inner = hyper::upgrade::on(&mut response);
        let (Some(_), Some(client)) = (&upgrade, client) else { return Err(NotCarried::Unasked) };
        let room = way.tunnels.enter(way.owner).ok_or(NotCarried::TooManyTunnels)?;
        tunnel(room, way.leases.gone(way.id), client, inner);
    }
    let mut response = response.map(Body::new);
    let switched = response.headers().get(UPGRADE).cloned().filter(|_| is_upgrade);
    drop_hop_by_hop(response.headers_mut());
    if let Some(protocol) = switched {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("upgrade"));
        response.headers_mut().insert(UPGRADE, protocol);
    }
    if way.is_by_path {
        let headers = response.headers_mut();
        for name in OF_THE_WHOLE_ORIGIN {
            headers.remove(name);
        }
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(NO_ORIGIN));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    }
    Ok(match way.leases.gone(way.id).filter(|_| !is_upgrade) {
        Some(gone) => response.map(|body| cut_when(gone, body)),
        None => response,
    })
}

/// The request as it is sent inside.
fn inward(request: Request, upgrade: Option<&HeaderValue>) -> Result<Request, NotCarried> {
    let (mut head, body) = request.into_parts();
    head.extensions.clear();
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    head.uri = path.parse().map_err(|_| NotCarried::BadPath)?;
    head.version = axum::http::Version::HTTP_11;
    drop_hop_by_hop(&mut head.headers);
    if let Some(protocol) = upgrade {
        head.headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        head.headers.insert(UPGRADE, protocol.clone());
    }
    if !head.headers.contains_key(HOST) {
        head.headers.insert(HOST, HeaderValue::from_static("localhost"));
    }
    Ok(Request::from_parts(head, body))
}

/// What the connection is to become, if that is asked for.
fn upgrade(headers: &HeaderMap) -> Option<HeaderValue> {
    named_in_connection(headers).any(|name| name.eq_ignore_ascii_case("upgrade")).then_some(())?;
    headers.get(UPGRADE).cloned()
}

fn named_in_connection(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let all = headers.get_all(CONNECTION).into_iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|text| text.split(',')).map(str::trim)
}

fn drop_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = named_in_connection(headers).filter_map(|name| name.parse().ok()).collect();
    for name in HOP_BY_HOP.iter().chain(&named) {
        headers.remove(name);
    }
    for name in MORE_HOP_BY_HOP {
        headers.remove(name);
    }
}

/// Both sides talk as they like from here on, until one ends or the sandbox does.
fn tunnel(room: Room, gone: Option<tokio::sync::watch::Receiver<bool>>, client: OnUpgrade, inner: OnUpgrade) {
    tokio::spawn(async move {
        let _room = room;
        let (Ok(client), Ok(inner)) = (client.await, inner.await) else { return };
        let (mut client, mut inner) = (TokioIo::new(client), TokioIo::new(inner));
        let ended = async {
            if let Some(mut gone) = gone {
                let _ = gone.wait_for(|gone| *gone).await;
            }
        };
        tokio::select! {
            ended = copy_bidirectional(&mut client, &mut inner) => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "a tunnel to a port of a sandbox ended early");
                }
            }
            () = ended => {}
        }
    });
}

#[cfg(test)]
#[path = "carry_tests.rs"]
mod tests;
