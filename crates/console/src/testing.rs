//! A console over a real store and a backend of memory, and a browser that is a function call.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::request::Builder;
use axum::http::{HeaderMap, Request, StatusCode};
use sandgate_core::network::NetworkCeiling;
use sandgate_core::testing::ScriptedBackend;
use sandgate_core::{
    BackendCheck, CheckBackends, Container, Containers, ContainersConfig, Leases, MemoryLeases,
    MemoryRegistry, NetworkRules, NewContainer, SandboxSpec,
};
use sandgate_doors::Access;
use sandgate_gate::upstream::{Loopback, Router as Upstreams, Routes, Upstream};
use sandgate_gate::{
    Approvals, Executions, Gate, GateConfig, GateParts, Ledger, LedgerConfig, Metrics, Policy,
};
use sandgate_store::Store;
use tempfile::TempDir;
use tokio_util::task::TaskTracker;
use tower_service::Service;

use crate::{Console, ConsoleParts};

pub(crate) struct TestConsole {
    pub(crate) console: Console,
    pub(crate) store: Store,
    router: Router,
    _home: TempDir,
}

/// The only one there is, and it does not answer.
#[derive(Debug)]
struct OneBackend;

#[async_trait]
impl CheckBackends for OneBackend {
    async fn check_all(&self) -> Vec<BackendCheck> {
        vec![BackendCheck {
            name: "<b>far</b>".to_owned(),
            kind: "e2b",
            is_default: true,
            took: Duration::from_millis(1234),
            problem: Some("<i>it does not answer</i>".to_owned()),
        }]
    }
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl TestConsole {
    pub(crate) async fn new(master: Option<&str>) -> Self {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path()).await.unwrap();
        let backend = Arc::new(ScriptedBackend::default());
        let registry = Arc::new(MemoryRegistry::default());
        // Whoever asks for a network gets it.
        let network = NetworkRules { ceiling: NetworkCeiling::unbounded(), ..NetworkRules::default() };
        let config = ContainersConfig { network, ..ContainersConfig::default() };
        let containers = Arc::new(Containers::open(backend, registry, config).await.unwrap());
        let approvals = Approvals::new(Policy::default(), store.clone());
        let executions = Executions::new(Arc::clone(&containers), approvals.clone());
        let upstreams = Arc::new(Upstreams::new(Routes::lone(Arc::new(Loopback))));
        let tasks = TaskTracker::new();
        let gate_to = |upstream: Arc<dyn Upstream>| {
            Arc::new(Gate::new(GateParts {
                upstream,
                containers: Arc::clone(&containers),
                executions: executions.clone(),
                store: store.clone(),
                spec: SandboxSpec::default(),
                config: GateConfig::default(),
                tasks: tasks.clone(),
            }))
        };
        let (gate, loopback) = (gate_to(Arc::clone(&upstreams) as _), gate_to(Arc::new(Loopback)));
        let leases = Leases::open(Arc::clone(&containers), Arc::new(MemoryLeases::default())).await.unwrap();
        let console = Console::new(ConsoleParts {
            access: Access::new(store.clone(), master),
            store: store.clone(),
            ledger: Ledger::new(store.clone(), LedgerConfig::default()),
            approvals,
            containers,
            leases: Arc::new(leases),
            executions,
            gate,
            loopback,
            upstreams,
            metrics: Metrics::default(),
            backends: Arc::new(OneBackend),
            tasks,
        });
        let router = console.clone().router();
        Self { console, store, router, _home: home }
    }

    pub(crate) async fn container(&self, new: NewContainer) -> Arc<Container> {
        self.console.parts().containers.create(new).await.unwrap()
    }

    pub(crate) async fn get(&self, path: &str, cookie: &str) -> Answer {
        self.send(Request::get(path), cookie).await
    }

    /// As a form of this console sends it.
    pub(crate) async fn post(&self, path: &str, cookie: &str, body: &str) -> Answer {
        let request = Request::post(path)
            .header("origin", "http://localhost")
            .header("content-type", "application/x-www-form-urlencoded");
        self.send_to(&self.router, request.body(Body::from(body.to_owned())).unwrap(), cookie).await
    }

    pub(crate) async fn sign_in(&self, key: &str, next: &str) -> Answer {
        let mut body = form_urlencoded::Serializer::new(String::new());
        body.append_pair("key", key).append_pair("next", next);
        self.post("/console/sign-in", "", &body.finish()).await
    }

    pub(crate) async fn send(&self, request: Builder, cookie: &str) -> Answer {
        self.send_to(&self.router, request.body(Body::empty()).unwrap(), cookie).await
    }

    pub(crate) async fn send_to(&self, router: &Router, mut request: Request<Body>, cookie: &str) -> Answer {
        let headers = request.headers_mut();
        headers.entry("host").or_insert("localhost".parse().unwrap());
        if !cookie.is_empty() {
            headers.insert("cookie", cookie.parse().unwrap());
        }
        let response = router.clone().call(request).await.unwrap();
        let (head, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap();
        let body = String::from_utf8_lossy(&body).into_owned();
        Answer { status: head.status, headers: head.headers, body }
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> String {
        self.headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
    }

    /// What the browser sends back from now on.
    pub(crate) fn cookie(&self) -> String {
        self.header("set-cookie").split(';').next().unwrap_or_default().to_owned()
    }

    /// The token in the page.
    pub(crate) fn csrf(&self) -> String {
        let (_, rest) = self.body.split_once("name=\"csrf\" content=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }
}
