//! The door without a socket, for the tests of its parts: requests in, answers out.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use sandgate_core::network::{NetworkCeiling, NetworkPolicy};
use sandgate_core::testing::ScriptedBackend;
use sandgate_core::{Backend, Containers, ContainersConfig, Leases, NetworkRules, SandboxSpec};
use sandgate_store::Store;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::task::TaskTracker;

use super::{DoorState, Front, OpenSandboxDoor, OpenSandboxSettings};
use crate::access::Access;
use crate::patience::BodyPatience;
pub(super) use crate::test_http::Answer;
use crate::test_http::with_json;

pub(super) const KEY: &str = "ann";

pub(super) struct Client {
    pub(super) front: Front,
    pub(super) leases: Arc<Leases>,
    pub(super) store: Store,
    _home: TempDir,
}

pub(super) async fn client() -> Client {
    client_with(Arc::new(ScriptedBackend::default()), OpenSandboxSettings::default(), None).await
}

/// Of a server that lets sandboxes reach these at most.
pub(super) async fn client_under(ceiling: &[&str]) -> (Client, Arc<ScriptedBackend>) {
    client_with_network(&[], ceiling).await
}

/// What sandboxes reach whose maker says nothing, and the most that any may.
pub(super) async fn client_with_network(usual: &[&str], ceiling: &[&str]) -> (Client, Arc<ScriptedBackend>) {
    let backend = Arc::new(ScriptedBackend::default());
    let ceiling = NetworkCeiling::from_words(ceiling.iter().copied()).unwrap();
    let usual = NetworkPolicy::from_words(usual.iter().copied()).unwrap();
    let network = NetworkRules { usual, ceiling };
    let config = ContainersConfig { network, ..ContainersConfig::default() };
    let client = client_over(
        Arc::clone(&backend) as _,
        config,
        OpenSandboxSettings::default(),
        None,
        DoorState::default(),
    )
    .await;
    (client, backend)
}

pub(super) async fn client_with(
    backend: Arc<dyn Backend>,
    settings: OpenSandboxSettings,
    master: Option<&str>,
) -> Client {
    client_over(backend, ContainersConfig::default(), settings, master, DoorState::default()).await
}

/// One whose server waits for no body.
pub(super) async fn client_in_a_hurry() -> Client {
    let none = std::time::Duration::from_millis(10);
    let patience = BodyPatience { silence: none, at_first: none, bytes_a_second: u64::MAX };
    let state = DoorState { patience, ..DoorState::default() };
    let (backend, config) = (Arc::new(ScriptedBackend::default()), ContainersConfig::default());
    client_over(backend, config, OpenSandboxSettings::default(), None, state).await
}

async fn client_over(
    backend: Arc<dyn Backend>,
    config: ContainersConfig,
    settings: OpenSandboxSettings,
    master: Option<&str>,
    state: DoorState,
) -> Client {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    let opened = Containers::open(backend, Arc::new(store.clone()), config).await;
    let containers = Arc::new(opened.unwrap());
    let leases = Leases::open(Arc::clone(&containers), Arc::new(store.clone())).await.unwrap();
    let leases = Arc::new(leases);
    let door = OpenSandboxDoor {
        leases: Arc::clone(&leases),
        runs: crate::lent::Runs::for_tests(&containers),
        containers,
        store: store.clone(),
        spec: SandboxSpec::default(),
        tasks: TaskTracker::new(),
        settings,
        state,
    };
    let front = Front::new(door, Access::new(store.clone(), master)).around_control(|router| router);
    Client { front, leases, store, _home: home }
}

/// What a request must have at least.
pub(super) fn least() -> Value {
    json!({
        "image": {"uri": "python"},
        "entrypoint": ["tail", "-f", "/dev/null"],
        "resourceLimits": {"cpu": "500m", "memory": "512Mi"},
        "timeout": 300,
    })
}

pub(super) fn least_with(more: &Value) -> Value {
    let mut body = least();
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

impl Client {
    pub(super) async fn send(&self, request: Request<Body>) -> Answer {
        let others = Router::new().fallback(async || "another door");
        let response = self.front.clone().answer(others, request).await;
        Answer::of(response).await
    }

    pub(super) async fn ask(&self, key: &str, method: &str, path: &str, body: Option<Value>) -> Answer {
        let mut request = Request::builder().method(method).uri(path).header("host", "localhost:4000");
        if !key.is_empty() {
            request = request.header("OPEN-SANDBOX-API-KEY", key);
        }
        self.send(with_json(request, body)).await
    }

    pub(super) async fn get(&self, path: &str) -> Answer {
        self.ask(KEY, "GET", path, None).await
    }

    pub(super) async fn post(&self, path: &str, body: Value) -> Answer {
        self.ask(KEY, "POST", path, Some(body)).await
    }

    /// A sandbox's id.
    pub(super) async fn make(&self, more: &Value) -> String {
        let answer = self.post("/v1/sandboxes", least_with(more)).await;
        assert_eq!(answer.status, 202, "{answer:?}");
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    /// The header and the token of a way in.
    pub(super) async fn token(&self, id: &str, port: u16) -> (String, String) {
        let answer = self.get(&format!("/v1/sandboxes/{id}/endpoints/{port}")).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let answer = answer.json();
        let (name, token) = answer["headers"].as_object().unwrap().iter().next().unwrap();
        (name.clone(), token.as_str().unwrap().to_owned())
    }

    /// Into a sandbox.
    pub(super) async fn inside(&self, id: &str, port: u16, path: &str, headers: &[(&str, &str)]) -> Answer {
        let uri = format!("/v1/sandboxes/{id}/proxy/{port}{path}");
        let mut request = Request::get(uri).header("host", "localhost:4000");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(Body::empty()).unwrap()).await
    }
}
