//! The door through a real socket, as a client sees it.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use sandgate_core::testing::ScriptedBackend;
use sandgate_core::{ContainersConfig, MemoryRegistry, Owner};
use sandgate_gate::{Approvals, Metrics};
use sandgate_store::Store;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use super::*;

struct Server {
    address: SocketAddr,
    backend: Arc<ScriptedBackend>,
    containers: Arc<Containers>,
    _home: tempfile::TempDir,
    _stop: tokio_util::sync::DropGuard,
}

async fn server(max_live: usize) -> Server {
    let backend = Arc::new(ScriptedBackend::default());
    let registry = Arc::new(MemoryRegistry::default());
    let config = ContainersConfig { max_live, ..ContainersConfig::default() };
    let containers = Arc::new(Containers::open(Arc::clone(&backend) as _, registry, config).await.unwrap());
    let spec = SandboxSpec::default();
    let executions = Executions::new(Arc::clone(&containers), Approvals::none());
    let (tasks, cut) = (TaskTracker::new(), CancellationToken::new());
    let door = ExecuteDoor {
        containers: Arc::clone(&containers),
        executions,
        ledger: Ledger::default(),
        spec,
        tasks: tasks.clone(),
        cut: cut.clone(),
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let home = tempfile::tempdir().unwrap();
    let access = crate::Access::new(Store::open(home.path()).await.unwrap(), None);
    let stopping = crate::Stopping::new(tasks, cut);
    let front = crate::Front { metrics: Metrics::default(), stopping, e2b_domain: None };
    tokio::spawn(stop.clone().run_until_cancelled_owned(crate::serve(
        listener,
        None,
        crate::Doors::new(door.router(), access),
        front,
    )));
    Server { address, backend, containers, _home: home, _stop: stop.drop_guard() }
}

impl Server {
    async fn send(&self, head: &str, body: &[u8]) -> TcpStream {
        let mut socket = TcpStream::connect(self.address).await.unwrap();
        let head = format!("{head}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
        socket.write_all(head.as_bytes()).await.unwrap();
        socket.write_all(body).await.unwrap();
        socket
    }

    /// The head and the body of the answer.
    async fn ask(&self, head: &str, body: &[u8]) -> (String, String) {
        let mut answer = String::new();
        self.send(head, body).await.read_to_string(&mut answer).await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_lowercase(), body.to_owned())
    }

    async fn removed(&self, count: usize) {
        let reached = async {
            while self.backend.deleted.load(Ordering::SeqCst) < count
                || !self.containers.list(&Owner::anonymous()).await.is_empty()
            {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(5), reached).await.unwrap();
    }

    async fn execute(&self, body: &str) -> (String, Value) {
        let (head, body) = self.ask(POST, body.as_bytes()).await;
        (head, serde_json::from_str(&body).unwrap())
    }
}

const POST: &str = "POST /v1/execute HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json";

#[tokio::test]
async fn health_answers() {
    let (head, body) = server(9).await.ask("GET /health HTTP/1.1\r\nhost: localhost", b"").await;
    assert!(head.starts_with("http/1.1 200"), "{head}");
    assert!(body.contains(r#""status":"ok""#), "{body}");
}

#[tokio::test]
async fn the_whole_result_names_a_container_that_can_be_used_again() {
    let server = server(9).await;
    let (head, first) = server.execute(r#"{"code":"one two"}"#).await;
    assert!(head.starts_with("http/1.1 200"), "{head}");
    assert_eq!(first["stdout"], "one\ntwo\n");
    assert_eq!(first["ending"]["kind"], "ok");
    assert_eq!(first["outputs"][0]["type"], "stdout");
    let again = format!(r#"{{"code":"x","container":{}, "context":"other"}}"#, first["container"]);
    let (_, second) = server.execute(&again).await;
    assert_eq!(second["container"], first["container"]);
    assert_eq!(server.backend.created.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn the_network_of_a_lent_sandbox_is_not_changed_here() {
    let server = server(9).await;
    let kept = Arc::new(sandgate_core::MemoryLeases::default());
    let leases = sandgate_core::Leases::open(Arc::clone(&server.containers), kept).await.unwrap();
    let new = sandgate_core::NewLease {
        id: "i1".to_owned(),
        door: "opensandbox",
        metadata: std::collections::BTreeMap::new(),
        lasts_ms: None,
        on_end: sandgate_core::OnEnd::Delete,
        wakes: false,
        ends_paused: false,
        details: Value::Null,
        container: NewContainer::default(),
    };
    let container = leases.grant(new).await.unwrap().container.clone();
    let (head, refused) =
        server.execute(&format!(r#"{{"code":"x","container":"{container}","network":[]}}"#)).await;
    assert!(head.starts_with("http/1.1 400"), "{head}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("change its network there"), "{refused}");
    let (head, _) = server.execute(&format!(r#"{{"code":"x","container":"{container}"}}"#)).await;
    assert!(head.starts_with("http/1.1 200"), "{head}");
}

#[tokio::test]
async fn a_stream_has_the_container_first_and_done_last() {
    let server = server(9).await;
    let (head, body) = server.ask(POST, br#"{"code":"one two","stream":true}"#).await;
    assert!(head.contains("content-type: text/event-stream"), "{head}");
    let names: Vec<_> = body.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    assert_eq!(names, ["container", "stdout", "stdout", "done"]);
    let (_, body) = server.ask(POST, br#"{"code":"one break","stream":true}"#).await;
    assert!(body.contains("event: failure"), "{body}");
}

#[tokio::test]
async fn a_client_that_hangs_up_ends_the_run() {
    let server = server(9).await;
    for body in [r#"{"code":"hang","stream":true}"#, r#"{"code":"hang"}"#] {
        let socket = server.send(POST, body.as_bytes()).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        drop(socket);
        let told = tokio::time::timeout(Duration::from_secs(5), server.backend.abandoned.notified()).await;
        assert!(told.is_ok(), "the run went on after the client of {body} was gone");
    }
}

#[tokio::test]
async fn every_refusal_has_its_status_and_the_one_shape() {
    let server = server(9).await;
    let long = format!(r#"{{"code":"{}"}}"#, "x".repeat(5 << 20));
    let rows: [(&str, u16, Value, &str); 8] = [
        ("{", 400, Value::Null, "not_json"),
        (r#"{"code":"","cod":1}"#, 400, "cod".into(), "unknown_field"),
        (r#"{"code":7}"#, 400, "code".into(), "wrong_type"),
        (r#"{"code":"","container":"cntr_no"}"#, 404, "container".into(), "container_not_found"),
        (r#"{"code":"","language":"cobol"}"#, 400, "language".into(), "unknown_language"),
        (&long, 413, "code".into(), "code_too_large"),
        (r#"{"code":"fail"}"#, 500, Value::Null, "engine_failed"),
        (r#"{"code":"break"}"#, 500, Value::Null, "engine_failed"),
    ];
    for (body, status, param, code) in rows {
        let (head, answer) = server.execute(body).await;
        let error = &answer["error"];
        assert!(head.starts_with(&format!("http/1.1 {status}")), "{code}: {head}");
        assert_eq!((&error["param"], &error["code"]), (&param, &code.into()), "{answer}");
        assert!(error["message"].is_string() && error["type"].is_string(), "{answer}");
        assert!(!answer.to_string().contains("secret"), "{answer}");
    }
}

#[tokio::test]
async fn a_fresh_container_nobody_heard_of_is_removed() {
    let server = server(9).await;
    server.execute(r#"{"code":"","language":"cobol"}"#).await;
    server.removed(1).await;
    let socket = server.send(POST, br#"{"code":"hang"}"#).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    drop(socket);
    server.removed(2).await;
    assert!(server.containers.list(&Owner::anonymous()).await.is_empty());
}

#[tokio::test]
async fn another_owners_container_does_not_exist() {
    let server = server(9).await;
    let (_, first) = server.execute(r#"{"code":"x"}"#).await;
    let again = format!(r#"{{"code":"x","container":{}}}"#, first["container"]);
    let with_key = format!("{POST}\r\nauthorization: Bearer other");
    let (head, _) = server.ask(&with_key, again.as_bytes()).await;
    assert!(head.starts_with("http/1.1 404"), "{head}");
    assert!(server.execute(&again).await.0.starts_with("http/1.1 200"));
}

#[tokio::test]
async fn paused_and_full_say_so() {
    let server = server(1).await;
    let (_, first) = server.execute(r#"{"code":"x"}"#).await;
    let (head, answer) = server.execute(r#"{"code":"x"}"#).await;
    assert!(head.starts_with("http/1.1 503") && head.contains("retry-after: 5"), "{head}");
    assert_eq!(answer["error"]["type"], "server_error");
    let id = first["container"].as_str().unwrap().to_owned().try_into().unwrap();
    server.containers.get(&Owner::anonymous(), &id).unwrap().pause().await.unwrap();
    let (head, _) = server.execute(&format!(r#"{{"code":"x","container":"{id}"}}"#)).await;
    assert!(head.starts_with("http/1.1 409"), "{head}");
}

#[tokio::test]
async fn what_a_browser_could_send_unasked_is_refused() {
    let server = server(9).await;
    let plain = "POST /v1/execute HTTP/1.1\r\nhost: localhost\r\ncontent-type: text/plain";
    assert!(server.ask(plain, br#"{"code":"x"}"#).await.0.starts_with("http/1.1 415"));
    let rebound = POST.replace("localhost", "evil.example");
    assert!(server.ask(&rebound, br#"{"code":"x"}"#).await.0.starts_with("http/1.1 421"));
    assert_eq!(server.backend.created.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn other_methods_get_the_same_shape() {
    let server = server(9).await;
    let (head, body) = server.ask("GET /v1/execute HTTP/1.1\r\nhost: localhost", b"").await;
    assert!(head.starts_with("http/1.1 405") && body.contains("method_not_allowed"), "{head} {body}");
}

#[tokio::test]
async fn what_is_not_declared_json_is_refused_before_it_is_sent() {
    let server = server(10).await;
    let mut socket = TcpStream::connect(server.address).await.unwrap();
    let head = "POST /v1/execute HTTP/1.1\r\nhost: localhost\r\ncontent-type: text/plain\r\ncontent-length: 1000000\r\n\r\n";
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 415"), "{answer}");
}
