//! The door without a socket, for the tests of its parts: requests in, answers out.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request as AnyRequest;
use axum::http::Request;
use axum::response::Response;
use sandgate_core::network::NetworkCeiling;
use sandgate_core::testing::ScriptedBackend;
use sandgate_core::{Containers, ContainersConfig, Leases, NetworkRules, SandboxSpec};
use sandgate_store::Store;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::task::TaskTracker;

use super::{DoorState, E2bDoor, E2bSettings, Front};
use crate::access::Access;
pub(super) use crate::test_http::Answer;
use crate::test_http::with_json;

pub(super) const KEY: &str = "e2b_ann";

pub(super) struct Client {
    pub(super) front: Front,
    pub(super) backend: Arc<ScriptedBackend>,
    pub(super) leases: Arc<Leases>,
    pub(super) containers: Arc<Containers>,
    pub(super) store: Store,
    _home: TempDir,
}

/// A sandbox that was made, and what it takes to get in.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) id: String,
    pub(super) envd: String,
    pub(super) traffic: String,
}

pub(super) async fn client() -> Client {
    client_with(E2bSettings::default(), None).await
}

pub(super) async fn client_with(settings: E2bSettings, master: Option<&str>) -> Client {
    client_over(ContainersConfig::default(), settings, master).await
}

/// Of a server that lets sandboxes reach these at most, and nothing unless they ask.
pub(super) async fn client_under(ceiling: &[&str]) -> Client {
    let ceiling = NetworkCeiling::from_words(ceiling.iter().copied()).unwrap();
    let network = NetworkRules { ceiling, ..NetworkRules::default() };
    let config = ContainersConfig { network, ..ContainersConfig::default() };
    client_over(config, E2bSettings::default(), None).await
}

async fn client_over(config: ContainersConfig, settings: E2bSettings, master: Option<&str>) -> Client {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    let backend = Arc::new(ScriptedBackend::default());
    let opened = Containers::open(Arc::clone(&backend) as _, Arc::new(store.clone()), config).await;
    let containers = Arc::new(opened.unwrap());
    let leases = Leases::open(Arc::clone(&containers), Arc::new(store.clone())).await.unwrap();
    let leases = Arc::new(leases);
    let door = E2bDoor {
        leases: Arc::clone(&leases),
        runs: crate::lent::Runs::for_tests(&containers),
        containers: Arc::clone(&containers),
        store: store.clone(),
        spec: SandboxSpec::default(),
        tasks: TaskTracker::new(),
        settings,
        state: DoorState::default(),
    };
    let front = Front::new(door, Access::new(store.clone(), master));
    Client { front, backend, leases, containers, store, _home: home }
}

impl Client {
    pub(super) async fn answer(&self, request: AnyRequest) -> Response {
        let others = Router::new().fallback(async || "another door");
        self.front.clone().answer(others, request).await
    }

    pub(super) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.answer(request).await;
        Answer::of(response).await
    }

    /// To the control plane.
    pub(super) async fn ask(&self, key: &str, method: &str, path: &str, body: Option<Value>) -> Answer {
        let mut request =
            Request::builder().method(method).uri(format!("/e2b{path}")).header("host", "localhost:4000");
        if !key.is_empty() {
            request = request.header("x-api-key", key);
        }
        self.send(with_json(request, body)).await
    }

    pub(super) async fn get(&self, path: &str) -> Answer {
        self.ask(KEY, "GET", path, None).await
    }

    pub(super) async fn post(&self, path: &str, body: Value) -> Answer {
        self.ask(KEY, "POST", path, Some(body)).await
    }

    pub(super) async fn make(&self, more: Value) -> Made {
        let mut body = json!({"templateID": "base"});
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        let answer = self.post("/v2/sandboxes", body).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        let made = answer.json();
        let text = |name: &str| made[name].as_str().unwrap().to_owned();
        Made { id: text("sandboxID"), envd: text("envdAccessToken"), traffic: text("trafficAccessToken") }
    }

    /// To the data plane, with the headers that the SDKs send.
    pub(super) async fn inside(
        &self,
        made: &Made,
        port: u16,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Answer {
        let mut request = Request::get(format!("/e2b{path}"))
            .header("host", "localhost:4000")
            .header("e2b-sandbox-id", &made.id)
            .header("e2b-sandbox-port", port);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(Body::empty()).unwrap()).await
    }
}
