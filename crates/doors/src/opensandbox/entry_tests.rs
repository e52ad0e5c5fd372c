//! What runs from the start, with ordinary processes of this machine.

use std::time::Duration;

use sandgate_core::testing::LocalBackend;
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::super::OpenSandboxSettings;
use super::super::test_client::{Client, KEY, client_with, least_with};
use super::*;

const LONGEST: Duration = Duration::from_secs(60);

async fn place() -> (Client, tempfile::TempDir) {
    let root = tempfile::tempdir().unwrap();
    let backend = Arc::new(LocalBackend::new(root.path().to_owned()));
    (client_with(backend, OpenSandboxSettings::default(), None).await, root)
}

#[tokio::test]
async fn an_entrypoint_runs_and_what_it_says_can_be_read() {
    let (client, _root) = place().await;
    let id = client.make(&json!({"entrypoint": ["sh", "-c", "echo out; echo err >&2; exit 3"]})).await;
    let ends = async {
        loop {
            let events = client.get(&format!("/v1/sandboxes/{id}/diagnostics/events?scope=lifecycle")).await;
            if events.text().contains("exit code 3") {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(LONGEST, ends).await.expect("the end of the entrypoint is an event");
    let logs = client.get(&format!("/v1/sandboxes/{id}/diagnostics/logs?scope=container")).await.json();
    assert!(logs["content"].as_str().unwrap().contains("out\n"), "{logs}");
    assert!(logs["content"].as_str().unwrap().contains("err\n"), "{logs}");
    assert_eq!((&logs["delivery"], &logs["truncated"]), (&json!("inline"), &json!(false)));
    let plain = client.get(&format!("/v1/sandboxes/{id}/diagnostics/logs")).await;
    assert!(plain.headers["content-type"].to_str().unwrap().starts_with("text/plain"));
    assert_eq!(client.get(&format!("/v1/sandboxes/{id}/diagnostics/logs?scope=moon")).await.status, 400);
}

#[tokio::test]
async fn an_entrypoint_that_is_not_there_makes_no_sandbox() {
    let (client, _root) = place().await;
    let body = least_with(&json!({"entrypoint": ["/no/such/program"]}));
    let answer = client.post("/v1/sandboxes", body).await;
    assert_eq!(
        (answer.status, answer.field("code").as_str()),
        (400, "DOCKER::SANDBOX_START_FAILED"),
        "{answer:?}"
    );
    assert_eq!(client.ask(KEY, "GET", "/v1/sandboxes", None).await.json()["pagination"]["totalItems"], 0);
}

#[tokio::test]
async fn the_code_interpreter_can_be_found_by_its_port() {
    let (client, _root) = place().await;
    // Free a moment ago; nobody else here asks for it by number.
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let id = client
        .make(&json!({
            "image": {"uri": "registry.example/opensandbox/code-interpreter:v1.1.0"},
            "entrypoint": ["/opt/code-interpreter/code-interpreter.sh"],
            "env": {"JUPYTER_PORT": port.to_string()},
        }))
        .await;
    let (name, token) = client.token(&id, 44772).await;
    assert_eq!(client.inside(&id, 44772, "/ping", &[(&name, &token)]).await.status, 200);
    // The SDK connects, no more; who asks hears what is not there, whole.
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.expect("something listens");
    let mut said = String::new();
    stream.read_to_string(&mut said).await.unwrap();
    let (head, body) = said.split_once("\r\n\r\n").unwrap();
    assert!(head.ends_with(&format!("Content-Length: {}", body.len())), "{said}");
    client.ask(KEY, "DELETE", &format!("/v1/sandboxes/{id}"), None).await;
}

#[test]
fn of_much_output_the_last_is_kept() {
    let mut log = Log::default();
    log.add("é".repeat(KEPT).as_bytes());
    log.add(b"end");
    assert!(log.truncated && log.text.len() <= KEPT && log.text.ends_with("éend"));
}
