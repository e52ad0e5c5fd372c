//! A sandbox asked as a client would, without a socket: of plain folders and ordinary processes, or one whose code is
//! words.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, BodyDataStream, to_bytes};
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::{Extension, Router};
use futures_util::StreamExt;
use sandgate_core::testing::{LocalBackend, ScriptedBackend};
use sandgate_core::{
    Backend, Containers, ContainersConfig, Leases, MemoryLeases, MemoryRegistry, NewContainer, NewLease,
    OnEnd, SandboxSpec,
};
use sandgate_store::Store;
use serde_json::Value;
use tokio_util::task::TaskTracker;
use tower_service::Service;

use super::super::details::Details;
use super::super::target::Target;
use super::super::{DOOR, DoorState, OpenSandboxDoor, OpenSandboxSettings};
use super::place::Places;

pub(super) struct World {
    pub(super) router: Router,
    pub(super) places: Places,
    leases: Arc<Leases>,
    _home: tempfile::TempDir,
}

pub(super) async fn local() -> World {
    let home = tempfile::tempdir().unwrap();
    let backend = Arc::new(LocalBackend::new(home.path().join("sandboxes")));
    world(backend, home).await
}

pub(super) async fn scripted() -> World {
    world(Arc::new(ScriptedBackend::default()), tempfile::tempdir().unwrap()).await
}

async fn world(backend: Arc<dyn Backend>, home: tempfile::TempDir) -> World {
    let registry = Arc::new(MemoryRegistry::default());
    let containers = Containers::open(backend, registry, ContainersConfig::default()).await.unwrap();
    let containers = Arc::new(containers);
    let leases = Leases::open(Arc::clone(&containers), Arc::new(MemoryLeases::default())).await.unwrap();
    let leases = Arc::new(leases);
    let env = vec![("FOO".to_owned(), "bar".to_owned())];
    let new = NewLease {
        id: "s1".to_owned(),
        door: DOOR,
        metadata: BTreeMap::new(),
        lasts_ms: None,
        on_end: OnEnd::Delete,
        wakes: false,
        ends_paused: false,
        details: Details::default().value(),
        container: NewContainer {
            spec: SandboxSpec { env, ..SandboxSpec::default() },
            ..NewContainer::default()
        },
    };
    let lease = leases.grant(new).await.unwrap();
    let container = leases.container(&lease).unwrap();
    let runs = crate::lent::Runs::for_tests(&containers);
    let door = Arc::new(OpenSandboxDoor {
        leases: Arc::clone(&leases),
        containers,
        store: Store::open(home.path()).await.unwrap(),
        spec: SandboxSpec::default(),
        tasks: TaskTracker::new(),
        runs,
        settings: OpenSandboxSettings::default(),
        state: DoorState::default(),
    });
    let (details, asked) = (Arc::new(Details::default()), crate::lent::Asked::default());
    let limits = Arc::default();
    let target = Target { lease, details, container, limits, asked, runs: door.runs.clone() };
    let places = Places::default();
    let enter = async move |mut request: Request, next: Next| {
        request.extensions_mut().insert(target);
        next.run(request).await
    };
    let router = super::routes().layer(Extension(places.clone()));
    let router = router.layer(from_fn(move |request, next| enter.clone()(request, next))).with_state(door);
    World { router, places, leases, _home: home }
}

impl World {
    pub(super) async fn send(&self, head: &str, body: impl Into<Body>) -> Response {
        let Ok(response) = self.router.clone().call(request(head, body)).await;
        response
    }

    /// `head`: method, path, and headers as `name: value`, a line each.
    pub(super) async fn ask(&self, head: &str, body: impl Into<Body>) -> (u16, HeaderMap, Vec<u8>) {
        let (parts, body) = self.send(head, body).await.into_parts();
        let body = to_bytes(body, 64 << 20).await.unwrap();
        (parts.status.as_u16(), parts.headers, body.to_vec())
    }

    /// Status and JSON; null when there is none.
    pub(super) async fn json(&self, head: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let (status, headers, body) = self.ask(head, body).await;
        if body.is_empty() {
            assert_eq!(headers["content-length"], "0", "an empty body has a length");
            return (status, Value::Null);
        }
        (status, serde_json::from_slice(&body).unwrap())
    }

    /// All events of an answer that goes on.
    pub(super) async fn told(&self, head: &str, body: &Value) -> Vec<Value> {
        self.stream(head, body).await.rest().await
    }

    pub(super) async fn stream(&self, head: &str, body: &Value) -> Told {
        let response = self.send(head, body.to_string()).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Told { body: response.into_body().into_data_stream(), buffer: Vec::new() }
    }

    pub(super) async fn end(&self) {
        self.leases.delete("s1").await.unwrap();
    }
}

fn request(head: &str, body: impl Into<Body>) -> Request {
    let mut lines = head.lines();
    let (method, uri) = lines.next().unwrap().split_once(' ').unwrap();
    let mut request = Request::builder().method(method).uri(uri);
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        request = request.header(name, value);
    }
    request.body(body.into()).unwrap()
}

/// The events of an answer, as they come.
pub(super) struct Told {
    body: BodyDataStream,
    buffer: Vec<u8>,
}

impl Told {
    /// None: that was all.
    pub(super) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|two| two == b"\n\n") {
                let line: Vec<u8> = self.buffer.drain(..end + 2).collect();
                assert!(line.is_ascii());
                return Some(serde_json::from_slice(&line).unwrap());
            }
            let piece = tokio::time::timeout(Duration::from_secs(30), self.body.next()).await;
            self.buffer.extend(piece.expect("nothing came")?.unwrap());
        }
    }

    pub(super) async fn rest(mut self) -> Vec<Value> {
        let mut all = Vec::new();
        while let Some(event) = self.next().await {
            all.push(event);
        }
        assert!(self.buffer.is_empty(), "half a line");
        all
    }
}

/// Type and text of each event but pings.
pub(super) fn plain(events: &[Value]) -> Vec<(&str, &str)> {
    let words = events.iter().map(|event| (event["type"].as_str().unwrap_or("-"), event));
    let words = words.filter(|(kind, _)| *kind != "ping");
    words.map(|(kind, event)| (kind, event["text"].as_str().unwrap_or_default())).collect()
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
