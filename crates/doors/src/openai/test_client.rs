//! The door without a socket, for the tests of its parts: requests in, answers out.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::http::header::CONTENT_TYPE;
use sandgate_core::testing::{MemoryFiles, ScriptedBackend};
use sandgate_core::{Containers, ContainersConfig, Limits, Owner, SandboxSpec};
use sandgate_gate::upstream::Loopback;
use sandgate_gate::{Approvals, ContainerFiles, Executions, Gate, GateConfig, GateParts, Ledger};
use sandgate_store::Store;
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::task::TaskTracker;
use tower_service::Service;

use super::{DoorLimits, OpenAiDoor};
use crate::test_http::{Answer, with_json};

pub(super) struct Client {
    router: Router,
    pub(super) backend: Arc<ScriptedBackend>,
    pub(super) containers: Arc<Containers>,
    _home: TempDir,
}

/// A door with small limits.
pub(super) async fn client() -> Client {
    client_with(|_| {}).await
}

pub(super) async fn client_with(change: impl FnOnce(&mut OpenAiDoor)) -> Client {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    let backend = Arc::new(ScriptedBackend::default());
    let registry = Arc::new(store.clone());
    let config = ContainersConfig::default();
    let opened = Containers::open(Arc::clone(&backend) as _, registry, config).await.unwrap();
    let containers = Arc::new(opened);
    let limits = Limits { disk_bytes: 2 << 20, ..Limits::default() };
    let (spec, tasks) = (SandboxSpec { limits, ..SandboxSpec::default() }, TaskTracker::new());
    let gate = Gate::new(GateParts {
        upstream: Arc::new(Loopback),
        containers: Arc::clone(&containers),
        executions: Executions::new(Arc::clone(&containers), Approvals::none()),
        store: store.clone(),
        spec: spec.clone(),
        config: GateConfig::default(),
        tasks: tasks.clone(),
    });
    let mut door = OpenAiDoor {
        gate: Arc::new(gate),
        containers: Arc::clone(&containers),
        files: ContainerFiles::new(store.clone()),
        ledger: Ledger::default(),
        store,
        spec,
        tasks,
        limits: DoorLimits { max_upload: 1 << 20, max_body: 1 << 20, ..DoorLimits::default() },
        strict: false,
    };
    change(&mut door);
    Client { router: door.router(), backend, containers, _home: home }
}

impl Client {
    pub(super) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().call(request).await.unwrap();
        Answer::of(response).await
    }

    /// With `key` as the caller's, none if it is empty.
    pub(super) async fn send_as(&self, key: &str, method: &str, path: &str, body: Option<Value>) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        if !key.is_empty() {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        self.send(with_json(request, body)).await
    }

    pub(super) async fn get(&self, path: &str) -> Answer {
        self.send_as("", "GET", path, None).await
    }

    pub(super) async fn delete(&self, path: &str) -> Answer {
        self.send_as("", "DELETE", path, None).await
    }

    pub(super) async fn post(&self, path: &str, body: Value) -> Answer {
        self.send_as("", "POST", path, Some(body)).await
    }

    /// A form; a part with a file name is a file.
    pub(super) async fn form(&self, path: &str, parts: &[(&str, Option<&str>, &[u8])]) -> Answer {
        let mut body = Vec::new();
        for (name, filename, content) in parts {
            let filename = filename.map(|name| format!("; filename=\"{name}\"")).unwrap_or_default();
            let head = format!("--edge\r\ncontent-disposition: form-data; name=\"{name}\"{filename}\r\n\r\n");
            body.extend_from_slice(head.as_bytes());
            body.extend_from_slice(content);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(b"--edge--\r\n");
        let request = Request::post(path).header(CONTENT_TYPE, "multipart/form-data; boundary=edge");
        self.send(request.body(body.into()).unwrap()).await
    }

    pub(super) async fn add_file(&self, name: &str, content: &[u8]) -> String {
        let parts = [("purpose", None, &b"user_data"[..]), ("file", Some(name), content)];
        self.form("/v1/files", &parts).await.good()["id"].as_str().unwrap().to_owned()
    }

    pub(super) async fn add_container(&self) -> String {
        let made = self.post("/v1/containers", serde_json::json!({"name": "mine"})).await;
        made.good()["id"].as_str().unwrap().to_owned()
    }

    /// The files of the only container.
    pub(super) fn inside(&self) -> Arc<MemoryFiles> {
        self.backend.only_files().unwrap()
    }

    pub(super) async fn count_containers(&self) -> usize {
        self.containers.list(&Owner::anonymous()).await.len()
    }
}
