//! The routes as a client meets them, over a backend without processes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use axum::response::Response;
use futures_util::StreamExt;
use sandgate_core::testing::ScriptedBackend;
use sandgate_core::{
    Containers, ContainersConfig, KeyLimits, Leases, MemoryLeases, MemoryRegistry, NewContainer, NewLease,
    OnEnd, SandboxSpec,
};
use sandgate_store::Store;
use serde_json::{Value, json};
use tokio_util::task::TaskTracker;

use super::super::route::{DataPlane, Wanted};
use super::super::tokens::TRAFFIC_HEADER;
use super::super::{CODE_PORT, DOOR, DoorState, E2bDoor, E2bSettings};

const TOKEN: &str = "ta_secret";

struct World {
    data: DataPlane,
    backend: Arc<ScriptedBackend>,
    leases: Arc<Leases>,
    _home: tempfile::TempDir,
}

async fn world(limits: KeyLimits) -> World {
    let backend = Arc::new(ScriptedBackend::default());
    let registry = Arc::new(MemoryRegistry::default());
    let containers = Containers::open(Arc::clone(&backend) as _, registry, ContainersConfig::default());
    let containers = Arc::new(containers.await.unwrap());
    let leases = Leases::open(Arc::clone(&containers), Arc::new(MemoryLeases::default())).await.unwrap();
    let leases = Arc::new(leases);
    let new = NewLease {
        id: "i1".to_owned(),
        door: DOOR,
        metadata: BTreeMap::new(),
        lasts_ms: None,
        on_end: OnEnd::Delete,
        wakes: false,
        ends_paused: false,
        details: json!({"traffic_token": TOKEN, "limits": limits}),
        container: NewContainer::default(),
    };
    leases.grant(new).await.unwrap();
    let home = tempfile::tempdir().unwrap();
    let door = E2bDoor {
        leases: Arc::clone(&leases),
        runs: crate::lent::Runs::for_tests(&containers),
        containers,
        store: Store::open(home.path()).await.unwrap(),
        spec: SandboxSpec::default(),
        tasks: TaskTracker::new(),
        settings: E2bSettings::default(),
        state: DoorState::default(),
    };
    World { data: DataPlane::new(Arc::new(door)), backend, leases, _home: home }
}

impl World {
    async fn send(&self, method: &str, path: &str, body: &Value) -> Response {
        self.send_as(method, path, "application/json", body.to_string().into()).await
    }

    async fn send_as(&self, method: &str, path: &str, kind: &str, body: Body) -> Response {
        let request = Request::builder().method(method).uri(path).header("content-type", kind);
        let request = request.header(TRAFFIC_HEADER, TOKEN).body(body).unwrap();
        self.data.answer(Wanted::Sandbox { id: "i1".to_owned(), port: CODE_PORT }, request).await
    }

    /// Status and body.
    async fn ask(&self, method: &str, path: &str, body: &Value) -> (StatusCode, String) {
        text(self.send(method, path, body).await).await
    }

    /// The lines of a run that starts.
    async fn run(&self, body: &Value) -> Vec<Value> {
        let (status, body) = self.ask("POST", "/execute", body).await;
        assert_eq!(status, StatusCode::OK, "{body}");
        body.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

async fn text(response: Response) -> (StatusCode, String) {
    let status = response.status();
    let body = to_bytes(response.into_body(), 1 << 24).await.unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

fn kinds(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["type"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn health_is_a_word_in_json() {
    let world = world(KeyLimits::default()).await;
    assert_eq!(world.ask("GET", "/health", &json!(null)).await, (StatusCode::OK, "\"OK\"".to_owned()));
}

#[tokio::test]
async fn code_comes_back_line_by_line() {
    let world = world(KeyLimits::default()).await;
    let nulls = json!({"code": "héllo value:x", "context_id": null, "language": null, "env_vars": null});
    let lines = world.run(&nulls).await;
    assert_eq!(kinds(&lines), ["number_of_executions", "stdout", "result", "end_of_execution"]);
    assert_eq!((&lines[0]["execution_count"], &lines[1]["text"]), (&json!(1), &json!("héllo\n")));
    assert!(lines[1]["timestamp"].as_str().unwrap().ends_with("+00:00"));
    assert_eq!((&lines[2]["text"], &lines[2]["is_main_result"]), (&json!("x"), &json!(true)));
    let lines = world.run(&json!({"code": "env", "language": "Python", "env_vars": {"FOO": "bar"}})).await;
    assert_eq!(lines[1]["text"], "FOO=bar\n");
}

#[tokio::test]
async fn every_bad_end_is_an_error_in_the_answer() {
    let world = world(KeyLimits::default()).await;
    let lines = world.run(&json!({"code": "a raise b"})).await;
    assert_eq!(kinds(&lines), ["number_of_executions", "stdout", "error", "end_of_execution"]);
    assert_eq!(lines[2]["traceback"], "first line\nsecond line");
    let lines = world.run(&json!({"code": "die"})).await;
    assert_eq!(
        (&lines[1]["name"], &lines[1]["value"]),
        (&json!("UnexpectedEndOfExecution"), &json!("the interpreter died"))
    );
    let lines = world.run(&json!({"code": "break"})).await;
    assert_eq!(kinds(&lines), ["number_of_executions", "error", "end_of_execution"]);
}

#[tokio::test]
async fn refusals_are_text_with_the_status_that_clients_show() {
    let world = world(KeyLimits::default()).await;
    for (body, status, said) in [
        (
            json!({"code": "1", "context_id": "a", "language": "python"}),
            400,
            "Only one of context_id or language can be provided",
        ),
        (json!({"code": "1", "context_id": "nope"}), 404, "Context nope not found"),
        (json!({"code": "1", "context_id": "../x"}), 404, "Context ../x not found"),
        (
            json!({"code": "1", "language": "ts"}),
            404,
            "language 'typescript' is not available here; there is: python",
        ),
        (json!({"code": "fail"}), 500, "the sandbox engine failed; the server's log says why"),
    ] {
        let (got, text) = world.ask("POST", "/execute", &body).await;
        assert_eq!((got.as_u16(), text.as_str()), (status, said));
    }
    let (status, _) = world.ask("POST", "/execute", &json!({"code": 5})).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let plain = world.send_as("POST", "/execute", "text/plain", "{\"code\": \"1\"}".into()).await;
    assert_eq!(plain.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let (status, _) = world.ask("GET", "/execute", &json!(null)).await;
    assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED);
    let (status, _) = world.ask("GET", "/other", &json!(null)).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_body_too_large_is_refused() {
    let world = world(KeyLimits::default()).await;
    let most = SandboxSpec::default().limits.code_bytes * 6 + (9 << 20);
    let body = Body::from(vec![b' '; usize::try_from(most).unwrap()]);
    let response = world.send_as("POST", "/execute", "application/json", body).await;
    assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn whoever_hangs_up_stops_the_code() {
    let world = world(KeyLimits { executions: Some(1), ..KeyLimits::default() }).await;
    let response = world.send("POST", "/execute", &json!({"code": "word hang"})).await;
    assert_eq!(response.status(), StatusCode::OK, "before the code has ended");
    let mut body = response.into_body().into_data_stream();
    body.next().await.unwrap().unwrap();
    let (status, text) = world.ask("POST", "/execute", &json!({"code": "more"})).await;
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS, "{text}");
    drop(body);
    let abandoned = world.backend.abandoned.notified();
    tokio::time::timeout(Duration::from_secs(20), abandoned).await.expect("the code is stopped");
    world.run(&json!({"code": "again"})).await;
}

#[tokio::test]
async fn silence_is_filled() {
    let world = world(KeyLimits::default()).await;
    let response = world.send("POST", "/execute", &json!({"code": "hang"})).await;
    let mut body = response.into_body().into_data_stream();
    let mut said = String::new();
    while !said.contains("keepalive") {
        said.push_str(std::str::from_utf8(&body.next().await.unwrap().unwrap()).unwrap());
    }
    assert!(said.ends_with("{\"type\":\"keepalive\"}\n"), "{said}");
}

#[tokio::test]
async fn contexts_are_made_listed_restarted_and_removed() {
    let world = world(KeyLimits::default()).await;
    let (status, made) = world.ask("POST", "/contexts", &json!({"language": "python", "cwd": "test"})).await;
    let made: Value = serde_json::from_str(&made).unwrap();
    assert_eq!((status, &made["cwd"]), (StatusCode::OK, &json!("/home/user/test")));
    let (_, listed) = world.ask("GET", "/contexts", &json!(null)).await;
    let default = json!({"id": "default", "language": "python", "cwd": "/home/user"});
    assert_eq!(serde_json::from_str::<Value>(&listed).unwrap(), json!([default, made]));
    let id = made["id"].as_str().unwrap();
    world.run(&json!({"code": "x", "context_id": id})).await;
    let null = (StatusCode::OK, "null".to_owned());
    for (method, path) in [
        ("POST", format!("/contexts/{id}/restart")),
        ("POST", "/contexts/default/restart".to_owned()),
        ("DELETE", format!("/contexts/{id}")),
        ("DELETE", "/contexts/default".to_owned()),
    ] {
        assert_eq!(world.ask(method, &path, &json!(null)).await, null, "{method} {path}");
    }
    for (method, path) in [("DELETE", format!("/contexts/{id}")), ("POST", format!("/contexts/{id}/restart"))]
    {
        let gone = (StatusCode::NOT_FOUND, format!("Context {id} not found"));
        assert_eq!(world.ask(method, &path, &json!(null)).await, gone);
    }
    let (status, text) = world.ask("POST", "/contexts", &json!({"language": "js"})).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(text.contains("'javascript'"), "{text}");
}

#[tokio::test]
async fn a_sandbox_that_ended_meanwhile_was_not_found() {
    let world = world(KeyLimits::default()).await;
    world.leases.delete("i1").await.unwrap();
    let (status, text) = world.ask("POST", "/execute", &json!({"code": "1"})).await;
    assert_eq!(status, StatusCode::BAD_GATEWAY);
    assert!(text.contains("The sandbox was not found"), "{text}");
}
