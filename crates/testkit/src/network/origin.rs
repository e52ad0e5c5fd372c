//! A web server that remembers what it was asked and repeats it, with or without TLS.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// One request, as it arrived.
#[derive(Clone, Debug)]
pub struct Asked {
    pub method: String,
    pub target: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// What was asked, and what there is to be had by its path.
#[derive(Debug, Default)]
struct Held {
    asked: Vec<Asked>,
    contents: HashMap<String, (&'static str, Bytes)>,
}

type Memory = Arc<Mutex<Held>>;

#[derive(Debug)]
pub struct Origin {
    address: SocketAddr,
    held: Memory,
    serving: JoinHandle<()>,
}

impl Origin {
    /// Plain.
    pub async fn http(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        Self::start(listener.local_addr()?, |router| {
            tokio::spawn(async move {
                let _ = axum::serve(listener, router).await;
            })
        })
    }

    /// With a certificate, of [`super::TestAuthority::server`].
    pub async fn https(address: SocketAddr, tls: Arc<ServerConfig>) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let listener = TlsListener { listener, acceptor: TlsAcceptor::from(tls) };
        Self::start(address, |router| {
            tokio::spawn(async move {
                let _ = axum::serve(listener, router).await;
            })
        })
    }

    fn start(address: SocketAddr, serve: impl FnOnce(Router) -> JoinHandle<()>) -> io::Result<Self> {
        let held = Memory::default();
        let router = Router::new()
            .route("/bytes/{count}", get(bytes))
            .route("/redirect/{*to}", get(redirect))
            .fallback(any(echo))
            .with_state(Arc::clone(&held));
        Ok(Self { address, held, serving: serve(router) })
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Every request so far, those for bytes and redirections aside.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        lock(&self.held).asked.clone()
    }

    /// From now on, this is at `path`; everything else is echoed.
    pub fn put(&self, path: &str, kind: &'static str, content: &[u8]) {
        lock(&self.held).contents.insert(path.to_owned(), (kind, Bytes::copy_from_slice(content)));
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn lock(held: &Mutex<Held>) -> std::sync::MutexGuard<'_, Held> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers with the request itself, headers and all.
async fn echo(State(held): State<Memory>, request: Request<Body>) -> Response {
    let (head, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, 64 << 20).await else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let mut text = format!("{} {}\n", head.method, head.uri);
    for (name, value) in &head.headers {
        text.push_str(&format!("{name}: {}\n", String::from_utf8_lossy(value.as_bytes())));
    }
    text.push_str(&format!("{} bytes\n", body.len()));
    let (method, target) = (head.method.to_string(), head.uri.to_string());
    let path = head.uri.path().to_owned();
    let mut held = lock(&held);
    held.asked.push(Asked { method, target, headers: head.headers, body });
    if let Some((kind, content)) = held.contents.get(&path) {
        return ([(header::CONTENT_TYPE, *kind)], content.clone()).into_response();
    }
    text.into_response()
}

async fn bytes(Path(count): Path<usize>) -> Response {
    vec![b'x'; count.min(1 << 30)].into_response()
}

async fn redirect(Path(to): Path<String>) -> Response {
    (StatusCode::FOUND, [(header::LOCATION, to)]).into_response()
}

struct TlsListener {
    listener: TcpListener,
    acceptor: TlsAcceptor,
}

impl axum::serve::Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        loop {
            if let Ok((stream, from)) = self.listener.accept().await
                && let Ok(stream) = self.acceptor.accept(stream).await
            {
                return (stream, from);
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}
