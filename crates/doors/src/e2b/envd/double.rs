//! A sandbox of plain folders and ordinary processes, asked as a client would, without a socket.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, BodyDataStream, to_bytes};
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::response::Response;
use bytes::{Buf, BytesMut};
use futures_util::StreamExt;
use sandgate_core::testing::LocalBackend;
use sandgate_core::{
    Containers, ContainersConfig, Lease, LeaseState, Limits, MemoryRegistry, NewContainer, OnEnd, Owner,
    SandboxSpec,
};
use serde_json::Value;
use tower_service::Service;

use super::super::details::Details;
use super::super::route::Target;

pub(super) struct Place {
    router: Router,
    target: Target,
    containers: Arc<Containers>,
    pub(super) backend: Arc<LocalBackend>,
    _home: tempfile::TempDir,
}

pub(super) async fn place() -> Place {
    let home = tempfile::tempdir().unwrap();
    let backend = Arc::new(LocalBackend::new(home.path().to_owned()));
    let registry = Arc::new(MemoryRegistry::default());
    let config = ContainersConfig::default();
    let containers = Arc::new(Containers::open(Arc::clone(&backend) as _, registry, config).await.unwrap());
    let limits = Limits { disk_bytes: 4 << 20, ..Limits::default() };
    let spec =
        SandboxSpec { limits, env: vec![("FOO".to_owned(), "bar".to_owned())], ..SandboxSpec::default() };
    let container = containers.create(NewContainer { spec, ..NewContainer::default() }).await.unwrap();
    let lease = Arc::new(Lease {
        id: "i1234".to_owned(),
        door: "e2b".to_owned(),
        owner: Owner::anonymous(),
        container: container.id().clone(),
        metadata: BTreeMap::new(),
        started_ms: 0,
        ends_ms: None,
        on_end: OnEnd::Delete,
        wakes: false,
        ends_paused: false,
        files_only: false,
        state: LeaseState::Running,
        details: Value::Null,
        parsed: sandgate_core::Parsed::default(),
    });
    let runs = crate::lent::Runs::for_tests(&containers);
    let details = Arc::new(Details::default());
    let limits = Arc::default();
    let target = Target { lease, details, container, limits, asked: crate::lent::Asked::default(), runs };
    Place { router: super::router().with_state(()), target, containers, backend, _home: home }
}

impl Place {
    pub(super) async fn send(&self, mut request: Request) -> Response {
        request.extensions_mut().insert(self.target.clone());
        let Ok(response) = self.router.clone().call(request).await;
        response
    }

    /// Status, headers and body. `head`: method, path, and headers as `name: value`, a line each.
    pub(super) async fn ask(&self, head: &str, body: impl Into<Body>) -> (u16, HeaderMap, Vec<u8>) {
        let response = self.send(request(head, body)).await;
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, 64 << 20).await.unwrap();
        (parts.status.as_u16(), parts.headers, body.to_vec())
    }

    /// A call in JSON: its status and answer.
    pub(super) async fn call(&self, procedure: &str, ask: &Value) -> (u16, Value) {
        let head = format!("POST /{procedure}\ncontent-type: application/json\ncontent-encoding: identity");
        let (status, _, body) = self.ask(&head, ask.to_string()).await;
        (status, serde_json::from_slice(&body).unwrap())
    }

    /// A call in JSON that is answered by a stream; `headers` as above.
    pub(super) async fn stream(&self, procedure: &str, headers: &str, ask: &Value) -> Streamed {
        let head = format!("POST /{procedure}\ncontent-type: application/connect+json{headers}");
        let response = self.send(request(&head, frame(0, ask.to_string().as_bytes()))).await;
        assert_eq!(response.status(), 200);
        Streamed { body: response.into_body().into_data_stream(), buffer: BytesMut::new() }
    }

    /// As when a client deletes it.
    pub(super) async fn kill(&self) {
        let target = &self.target;
        self.containers.delete(target.container.owner(), target.container.id()).await.unwrap();
    }

    pub(super) async fn write(&self, path: &str, content: &str) {
        let head = format!("POST /files?path={path}\ncontent-type: application/octet-stream");
        assert_eq!(self.ask(&head, content.to_owned()).await.0, 200);
    }
}

pub(super) fn request(head: &str, body: impl Into<Body>) -> Request {
    let mut lines = head.lines();
    let (method, uri) = lines.next().unwrap().split_once(' ').unwrap();
    let mut request = Request::builder().method(method).uri(uri);
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        request = request.header(name, value);
    }
    request.body(body.into()).unwrap()
}

pub(super) fn frame(flags: u8, message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    [&[flags], &length[..], message].concat()
}

/// The frames of an answer.
pub(super) struct Streamed {
    body: BodyDataStream,
    buffer: BytesMut,
}

impl Streamed {
    /// Flags and message. None: the connection was cut, or nothing more came.
    pub(super) async fn next(&mut self) -> Option<(u8, Value)> {
        self.fill(5).await?;
        let (flags, length) = (self.buffer.get_u8(), self.buffer.get_u32());
        self.fill(usize::try_from(length).unwrap()).await?;
        let message = self.buffer.split_to(usize::try_from(length).unwrap());
        Some((flags, serde_json::from_slice(&message).unwrap()))
    }

    /// The message of the next frame, which is not the last.
    pub(super) async fn message(&mut self) -> Value {
        let (flags, message) = self.next().await.expect("the stream was cut");
        assert_eq!(flags, 0, "{message}");
        message
    }

    /// All messages up to the last, and what that says.
    pub(super) async fn all(mut self) -> (Vec<Value>, Value) {
        let mut messages = Vec::new();
        loop {
            match self.next().await.expect("the stream was cut") {
                (0, message) => messages.push(message),
                (2, last) => {
                    assert!(self.next().await.is_none());
                    return (messages, last);
                }
                (flags, message) => panic!("{flags} {message}"),
            }
        }
    }

    async fn fill(&mut self, wanted: usize) -> Option<()> {
        while self.buffer.len() < wanted {
            let piece = tokio::time::timeout(Duration::from_secs(30), self.body.next()).await;
            self.buffer.extend_from_slice(&piece.expect("nothing came").and_then(Result::ok)?);
        }
        Some(())
    }
}

/// Waits until something holds.
pub(super) async fn until(mut holds: impl AsyncFnMut() -> bool) {
    let reached = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), reached).await.expect("it did not come to hold");
}
