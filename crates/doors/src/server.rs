//! The listening socket: every door behind one port, small answers sent at once, bounds on what clients may
//! hold, and an end that lets running requests finish.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::access::{Access, authenticate};
use crate::browsers::lead_browsers;
use crate::cross_site::only_same_site;
use crate::e2b::{self, E2bDoor};
use crate::execute::Refusal;
use crate::front::{Front, attend};
use crate::opensandbox::{self, OpenSandboxDoor};
use crate::patience::{BodyPatience, patient_body};
use crate::stalled::EndWhenStalled;
use crate::tls::{OverTls, Tls};

/// What clients may hold of the server.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    connections: usize,
    /// For the head of a request to come, whole; also how long a connection may wait for its next request.
    head: Duration,
    body: BodyPatience,
    /// For a client to take anything of an answer that waits for it.
    stalled: Duration,
}

const BOUNDS: Bounds = Bounds {
    connections: 1024,
    head: Duration::from_secs(30),
    body: BodyPatience::USUAL,
    stalled: Duration::from_secs(120),
};

/// Connections past the bound that are told so at one time; others are closed without a word.
const REFUSED_AT_ONCE: usize = 32;
const TIME_TO_REFUSE: Duration = Duration::from_secs(1);
/// The head of a request, with all its headers.
const MAX_HEAD: usize = 64 << 10;
/// When the system has no descriptor for another connection, it is asked again after this.
const PAUSE_AFTER_ERROR: Duration = Duration::from_millis(500);

/// Every door of a server, each behind what guards it.
#[derive(Clone, Debug)]
pub struct Doors {
    /// Those that take a key.
    keyed: Router,
    e2b: Option<e2b::Front>,
    opensandbox: Option<opensandbox::Front>,
}

impl Doors {
    /// Doors for whomever `access` lets in.
    #[must_use]
    pub fn new(doors: Router, access: Access) -> Self {
        Self { keyed: doors.layer(from_fn_with_state(access, authenticate)), e2b: None, opensandbox: None }
    }

    /// E2B's before the others: it is known by its path, and by names of its own.
    #[must_use]
    pub fn with_e2b(self, door: E2bDoor, access: Access) -> Self {
        Self { e2b: Some(e2b::Front::new(door, access)), ..self }
    }

    /// OpenSandbox's, known by its paths.
    #[must_use]
    pub fn with_opensandbox(self, door: OpenSandboxDoor, access: Access) -> Self {
        Self { opensandbox: Some(opensandbox::Front::new(door, access)), ..self }
    }

    /// The console, which lets people in by itself. Browsers that know no more than the server's name are led
    /// there.
    #[must_use]
    pub fn with_console(self, console: Router) -> Self {
        Self { keyed: self.keyed.merge(console).layer(from_fn(lead_browsers)), ..self }
    }

    #[cfg(test)]
    pub(crate) fn only_e2b(front: e2b::Front) -> Self {
        Self { keyed: Router::new(), e2b: Some(front), opensandbox: None }
    }

    #[cfg(test)]
    pub(crate) fn only_opensandbox(front: opensandbox::Front) -> Self {
        Self { keyed: Router::new(), e2b: None, opensandbox: Some(front) }
    }

    fn app(self, patience: BodyPatience) -> Router {
        let around = move |router: Router| {
            let patient = move |request: Request, next: Next| {
                next.run(request.map(|body| patient_body(body, patience)))
            };
            router.layer(from_fn(only_same_site)).layer(from_fn(patient))
        };
        let mut doors = around(self.keyed);
        if let Some(front) = self.opensandbox.map(|front| front.around_control(around)) {
            let others = doors;
            doors = Router::new()
                .fallback(async move |request: Request| front.clone().answer(others.clone(), request).await);
        }
        if let Some(front) = self.e2b.map(|front| front.around_control(around)) {
            let others = doors;
            doors = Router::new()
                .fallback(async move |request: Request| front.clone().answer(others.clone(), request).await);
        }
        doors
    }
}

/// Answers until the server is told to stop and nothing is under way any more. `tls`: what clients must speak.
pub async fn serve(listener: TcpListener, tls: Option<Tls>, doors: Doors, front: Front) -> io::Result<()> {
    let end = CancellationToken::new();
    let stopping = front.stopping.clone();
    let when_quiet = async {
        stopping.quiet().await;
        end.cancel();
    };
    let attended = move |app: Router| app.layer(from_fn_with_state(front, attend));
    tokio::join!(serve_within(BOUNDS, listener, tls, doors, attended, end.clone()), when_quiet).0
}

async fn serve_within(
    bounds: Bounds,
    listener: TcpListener,
    tls: Option<Tls>,
    doors: Doors,
    around: impl FnOnce(Router) -> Router,
    stop: CancellationToken,
) -> io::Result<()> {
    let app = around(doors.app(bounds.body));
    let app = if tls.is_some() { app.layer(Extension(OverTls)) } else { app };
    let full = Router::new().fallback(async || Refusal::TooManyConnections);
    let served = Served { bounds, tls, stop: stop.clone() };
    let (room, room_to_refuse) =
        (Arc::new(Semaphore::new(bounds.connections)), Arc::new(Semaphore::new(REFUSED_AT_ONCE)));
    let connections = TaskTracker::new();
    loop {
        let connection = tokio::select! {
            connection = accept(&listener) => connection,
            () = stop.cancelled() => break,
        };
        if let Ok(permit) = Arc::clone(&room).try_acquire_owned() {
            connections.spawn(served.clone().connection(connection, app.clone(), permit));
        } else if let Ok(permit) = Arc::clone(&room_to_refuse).try_acquire_owned() {
            let refusing = served.clone().connection(connection, full.clone(), permit);
            connections.spawn(tokio::time::timeout(TIME_TO_REFUSE, refusing));
        }
    }
    // No new connection is taken from here on, also not by the system on our behalf.
    drop(listener);
    connections.close();
    connections.wait().await;
    Ok(())
}

async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((connection, _)) => return connection,
            // The client's affair: it has gone already.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::ConnectionAborted
                        | io::ErrorKind::ConnectionRefused
                        | io::ErrorKind::ConnectionReset
                ) => {}
            Err(error) => {
                tracing::error!(%error, "a connection could not be taken");
                tokio::time::sleep(PAUSE_AFTER_ERROR).await;
            }
        }
    }
}

/// How connections are served.
#[derive(Clone)]
struct Served {
    bounds: Bounds,
    tls: Option<Tls>,
    stop: CancellationToken,
}

impl Served {
    async fn connection(self, connection: TcpStream, app: Router, _permit: OwnedSemaphorePermit) {
        if let Err(error) = connection.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
        match &self.tls {
            None => self.requests(connection, app).await,
            // The handshake has as long as a head.
            Some(tls) => match timeout(self.bounds.head, tls.accept(connection)).await {
                Ok(Ok(connection)) => self.requests(connection, app).await,
                Ok(Err(error)) => tracing::debug!(%error, "a client and this server found no way to talk"),
                Err(_) => tracing::debug!("a client took too long to agree on how to talk"),
            },
        }
    }

    async fn requests<C>(&self, connection: C, app: Router)
    where
        C: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let io = TokioIo::new(EndWhenStalled::new(connection, self.bounds.stalled));
        let served = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.bounds.head)
            .max_buf_size(MAX_HEAD)
            .serve_connection(io, TowerToHyperService::new(app))
            .with_upgrades();
        let mut served = std::pin::pin!(served);
        let ended = tokio::select! {
            ended = served.as_mut() => ended,
            () = self.stop.cancelled() => {
                // The request under way is answered; another one is not waited for.
                served.as_mut().graceful_shutdown();
                served.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection ended early");
        }
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
