//! The scripted model as a server: the paths a model has, and those by which a test speaks to it.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post, put};
use axum::serve::ListenerExt;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::answer::{chat_completions, models, other, responses};
use crate::record::{Record, Request, Violation};
use crate::script::{Script, Turn};

/// A scripted model that listens on a port of its own until it is dropped.
#[derive(Debug)]
pub struct ScriptedModel {
    address: SocketAddr,
    record: Record,
    server: JoinHandle<()>,
}

impl ScriptedModel {
    pub async fn start() -> io::Result<Self> {
        Self::start_on(0).await
    }

    pub async fn start_on(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        // Small writes are the point of some scripts: they must leave as they are.
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        let record = Record::default();
        let router = router(record.clone());
        let server = tokio::spawn(async move { drop(axum::serve(listener, router).await) });
        Ok(Self { address, record, server })
    }

    /// Where it listens, without a path: `http://127.0.0.1:1234`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What a client of the API takes as its base: `http://127.0.0.1:1234/v1`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("{}/v1", self.url())
    }

    /// Replaces the script of this key.
    pub fn script(&self, key: &str, turns: impl IntoIterator<Item = Turn>) {
        self.record.script(key, turns.into_iter().collect());
    }

    /// The requests with this key so far, the oldest first.
    #[must_use]
    pub fn requests(&self, key: &str) -> Vec<Request> {
        self.record.requests(key)
    }

    #[must_use]
    pub fn violations(&self) -> Vec<Violation> {
        self.record.violations(None)
    }

    #[must_use]
    pub fn violations_of(&self, key: &str) -> Vec<Violation> {
        self.record.violations(Some(key))
    }

    /// Turns of this key that no request has used.
    #[must_use]
    pub fn turns_left(&self, key: &str) -> usize {
        self.record.turns_left(key)
    }

    /// Waits until the server ends, which it does not by itself.
    pub async fn run(mut self) {
        drop((&mut self.server).await);
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn router(record: Record) -> Router {
    Router::new()
        .route("/v1/responses", post(responses))
        .route("/v1/chat/completions", post(chat_completions))
        .route("/v1/models", get(models))
        .route("/_script/{key}", put(set_script))
        .route("/_requests/{key}", get(get_requests))
        .route("/_violations", get(get_violations))
        .route("/_violations/{key}", get(get_violations_of))
        .fallback(any(other))
        .layer(DefaultBodyLimit::disable())
        .with_state(record)
}

async fn set_script(State(record): State<Record>, Path(key): Path<String>, body: String) -> Response {
    match serde_json::from_str::<Script>(&body) {
        Ok(script) => {
            record.script(&key, script.turns);
            StatusCode::NO_CONTENT.into_response()
        }
        Err(error) => {
            (StatusCode::BAD_REQUEST, format!("the script cannot be read: {error}\n")).into_response()
        }
    }
}

async fn get_requests(State(record): State<Record>, Path(key): Path<String>) -> impl IntoResponse {
    axum::Json(record.requests(&key))
}

async fn get_violations(State(record): State<Record>) -> impl IntoResponse {
    axum::Json(record.violations(None))
}

async fn get_violations_of(State(record): State<Record>, Path(key): Path<String>) -> impl IntoResponse {
    axum::Json(record.violations(Some(&key)))
}
