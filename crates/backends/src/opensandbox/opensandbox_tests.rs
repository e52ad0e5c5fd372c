//! OpenSandbox's protocol against a server that answers as its contract says, or does not.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use sandgate_core::Secret;
use serde_json::json;

use super::OpenSandbox;
use crate::http::test_server::{Asked, JSON, TestServer};
use crate::{
    Deadlines, Furnished, NetworkWish, OpenSandboxSettings, Provider, ProviderError, ProviderResult, Reach,
    Run, RunEnd, Said, Wish,
};

fn provider(server: &TestServer, use_server_proxy: bool) -> OpenSandbox {
    provider_within(server, use_server_proxy, Duration::from_secs(10))
}

fn provider_within(server: &TestServer, use_server_proxy: bool, create: Duration) -> OpenSandbox {
    let settings = OpenSandboxSettings {
        url: format!("http://{}/v1", server.host),
        api_key: Some(Secret::new("the-key".to_owned())),
        image: "opensandbox/code-interpreter:v1.1.0".to_owned(),
        entrypoint: vec!["/opt/code-interpreter/code-interpreter.sh".to_owned()],
        use_server_proxy,
        extensions: BTreeMap::new(),
        deadlines: Deadlines { answer: Duration::from_secs(2), create, ..Deadlines::default() },
        reach: Reach::default(),
    };
    OpenSandbox::new(settings).unwrap()
}

fn wish() -> Wish {
    Wish {
        memory_bytes: Some(512 << 20),
        cpu_millis: Some(500),
        disk_bytes: None,
        network: NetworkWish::Nothing,
        life: Duration::from_secs(5),
        env: Vec::new(),
        metadata: BTreeMap::new(),
    }
}

/// `endpoint`: where execd is said to be.
fn well(asked: &Asked, endpoint: &str, said: &str) -> (u16, &'static str, String) {
    let path = asked.path.split('?').next().unwrap_or_default();
    match path {
        "/v1/sandboxes" => (202, JSON, json!({"id": "s-1", "status": {"state": "Pending"}}).to_string()),
        "/v1/sandboxes/s-1" => (200, JSON, json!({"id": "s-1", "status": {"state": "Running"}}).to_string()),
        "/v1/sandboxes/s-1/endpoints/44772" => (
            200,
            JSON,
            json!({"endpoint": endpoint, "headers": {"X-EXECD-ACCESS-TOKEN": "t", "Host": "evil"}})
                .to_string(),
        ),
        "/inside/code" => (200, "text/event-stream", said.to_owned()),
        "/inside/files/info" => {
            let folder = json!({"path": "/mnt/data", "type": "directory", "size": 0, "mode": 777});
            (200, JSON, json!({"/mnt/data": folder}).to_string())
        }
        _ => (200, JSON, String::new()),
    }
}

async fn run(said: &'static str) -> Vec<ProviderResult<Said>> {
    let inside = TestServer::start(move |asked| well(asked, "", said)).await;
    let endpoint = format!("{}/inside", inside.host);
    let server = TestServer::start(move |asked| well(asked, &endpoint, "")).await;
    let place = provider(&server, false).create(&wish()).await.unwrap();
    let run =
        Run { code: "1".to_owned(), timeout: Duration::from_secs(5), output_bytes: 1000, ..Run::default() };
    let mut running = place.execute(run).await.unwrap();
    let mut all = Vec::new();
    while let Some(said) = running.said.recv().await {
        all.push(said);
    }
    let code = inside.asked().pop().unwrap();
    assert_eq!(code.json(), json!({"code": "1", "context": {"language": "python"}}));
    all
}

#[tokio::test]
async fn a_sandbox_that_may_reach_everything_is_asked_for_without_a_policy() {
    let server = TestServer::start(|asked| well(asked, "sandbox.test/inside", "")).await;
    let everything = Wish { network: NetworkWish::Everything, ..wish() };
    provider(&server, false).create(&everything).await.unwrap();
    assert_eq!(server.asked()[0].json().get("networkPolicy"), None);
    let only = Wish { network: NetworkWish::Only(vec!["example.org".to_owned()]), ..wish() };
    provider(&server, false).create(&only).await.unwrap();
    let body = server.asked().into_iter().rfind(|asked| asked.path == "/v1/sandboxes").unwrap().json();
    let rule = json!({"action": "allow", "target": "example.org"});
    assert_eq!(body["networkPolicy"], json!({"defaultAction": "deny", "egress": [rule]}));
}

#[tokio::test]
async fn a_sandbox_is_asked_for_with_all_ways_out_closed() {
    let inside = TestServer::start(|asked| well(asked, "", "")).await;
    let endpoint = format!("{}/inside", inside.host);
    let server = TestServer::start(move |asked| well(asked, &endpoint, "")).await;
    let place = provider(&server, true).create(&wish()).await.unwrap();
    assert_eq!(place.furnish("/mnt/data").await, Ok(Furnished::AtOnce));
    let asked = server.asked();
    assert_eq!(asked[0].headers["open-sandbox-api-key"], "the-key");
    let body = json!({
        "image": {"uri": "opensandbox/code-interpreter:v1.1.0"},
        "entrypoint": ["/opt/code-interpreter/code-interpreter.sh"], "timeout": 60,
        "resourceLimits": {"cpu": "500m", "memory": "512Mi"}, "env": {}, "metadata": {},
        "networkPolicy": {"defaultAction": "deny", "egress": []},
    });
    assert_eq!(asked[0].json(), body);
    let lines = server.lines();
    assert_eq!(
        lines[1..],
        ["GET /v1/sandboxes/s-1", "GET /v1/sandboxes/s-1/endpoints/44772?use_server_proxy=true"]
    );
    // The key is for the server, and not for whatever it names; the token is for that.
    for asked in inside.asked() {
        assert!(!asked.headers.contains_key("open-sandbox-api-key"), "{asked:?}");
        assert_eq!(
            (&asked.headers["x-execd-access-token"], &asked.headers["host"]),
            (&"t".parse().unwrap(), &inside.host.parse().unwrap())
        );
    }
    assert_eq!(inside.lines(), ["GET /inside/files/info?path=%2Fmnt%2Fdata", "POST /inside/directories"]);
}

#[tokio::test]
async fn a_sandbox_that_does_not_answer_yet_is_asked_until_it_does() {
    let pings = Arc::new(AtomicU32::new(0));
    let inside = TestServer::start(move |asked| match asked.path.as_str() {
        "/inside/ping" => match pings.fetch_add(1, Ordering::Relaxed) {
            0 => (502, JSON, "{}".to_owned()),
            _ => (200, JSON, String::new()),
        },
        path if path.starts_with("/inside/files/info") => (502, JSON, "{}".to_owned()),
        _ => well(asked, "", ""),
    })
    .await;
    let endpoint = format!("{}/inside", inside.host);
    let server = TestServer::start(move |asked| well(asked, &endpoint, "")).await;
    let place = provider(&server, false).create(&wish()).await.unwrap();
    assert_eq!(place.furnish("/mnt/data").await, Ok(Furnished::Later));
    let lines = inside.lines();
    let (first, rest) = lines.split_first().unwrap();
    assert!(first.starts_with("GET /inside/files/info"), "{lines:?}");
    // A question that does no harm may be asked more than once.
    let asked: Vec<&str> = rest.iter().skip_while(|line| *line == first).map(String::as_str).collect();
    assert_eq!(asked.last(), Some(&"POST /inside/directories"), "{lines:?}");
    assert!(
        asked.len() > 2 && asked[..asked.len() - 1].iter().all(|line| *line == "GET /inside/ping"),
        "{lines:?}"
    );
}

#[tokio::test]
async fn the_end_of_the_answer_is_the_end_whatever_comes_first() {
    let said = run(concat!(
        r#"{"type":"init","text":"ctx","timestamp":1}"#,
        "\n\n",
        r#"{"type":"execution_complete","execution_time":17,"timestamp":1}"#,
        "\n\n",
        r#"data: {"type":"stdout","text":"late\n","timestamp":1}"#,
        "\n\n",
        r#"{"type":"result","results":{"text":"shown"},"timestamp":1}"#,
        "\n\n",
        r#"{"type":"execution_count","execution_count":2,"timestamp":1}"#,
        "\n\n",
        r#"{"type":"result","results":{"text":"42","image/png":"AA"},"timestamp":1}"#,
        "\n\n",
    ))
    .await;
    let said: Vec<Said> = said.into_iter().map(Result::unwrap).collect();
    let bundle = |value: serde_json::Value| value.as_object().unwrap().clone();
    let wanted = [
        Said::Stdout("late\n".to_owned()),
        Said::Count(2),
        Said::Shown(bundle(json!({"text/plain": "shown"}))),
        Said::Value(bundle(json!({"image/png": "AA", "text/plain": "42"}))),
        Said::Ended(RunEnd::Finished),
    ];
    assert_eq!(said, wanted);
}

#[tokio::test]
async fn what_is_refused_after_the_answer_began_is_an_error() {
    let busy = run("{\"type\":\"init\",\"text\":\"c\",\"timestamp\":1}\n\n{\"code\":\"RUNTIME_ERROR\",\"message\":\"session is busy\"}\n\n").await;
    assert_eq!(busy, [Err(ProviderError::Failed("session is busy".to_owned()))]);
    assert!(matches!(run("").await[..], [Err(ProviderError::Unreachable(_))]));
    assert!(matches!(run("{\"x\":1}\n").await[..], [Err(ProviderError::Garbage(_))]));
}

async fn deleted(server: &TestServer) {
    let deleted = async {
        while !server.lines().contains(&"DELETE /v1/sandboxes/s-1".to_owned()) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), deleted).await.expect("the sandbox is deleted");
}

#[tokio::test]
async fn a_sandbox_that_takes_too_long_is_told_and_deleted() {
    let server = TestServer::start(|asked| match asked.path.as_str() {
        "/v1/sandboxes/s-1" if asked.method == http::Method::GET => {
            (200, JSON, json!({"id": "s-1", "status": {"state": "Pending"}}).to_string())
        }
        _ => well(asked, "", ""),
    })
    .await;
    let late = provider_within(&server, false, Duration::from_millis(300)).create(&wish()).await;
    assert!(matches!(late, Err(ProviderError::TimedOut { .. })), "{late:?}");
    deleted(&server).await;
}

#[tokio::test]
async fn a_sandbox_that_fails_is_told_and_deleted() {
    let server = TestServer::start(|asked| match asked.path.as_str() {
        "/v1/sandboxes/s-1" if asked.method == http::Method::GET => {
            let status = json!({"state": "Failed", "message": "no such image"});
            (200, JSON, json!({"id": "s-1", "status": status}).to_string())
        }
        _ => well(asked, "", ""),
    })
    .await;
    let error = provider(&server, false).create(&wish()).await.unwrap_err();
    assert_eq!(error, ProviderError::Failed("no such image".to_owned()));
    deleted(&server).await;
}

/// Where the language is missing, the real server takes code for a shell command.
#[tokio::test]
async fn a_run_in_a_context_says_its_language_too() {
    let inside = TestServer::start(|asked| well(asked, "", "{\"type\":\"execution_complete\"}\n")).await;
    let endpoint = format!("{}/inside", inside.host);
    let server = TestServer::start(move |asked| well(asked, &endpoint, "")).await;
    let place = provider(&server, false).create(&wish()).await.unwrap();
    for (language, said) in [(None, "python"), (Some("bash".to_owned()), "bash")] {
        let run = Run { code: "1".to_owned(), context: Some("c".to_owned()), language, ..Run::default() };
        place.execute(run).await.unwrap();
        let body = inside.asked().pop().unwrap().json();
        assert_eq!(body, json!({"code": "1", "context": {"id": "c", "language": said}}));
    }
}

#[tokio::test]
async fn a_line_that_is_too_long_is_too_much_output() {
    let long: &'static str = Box::leak("x".repeat(2 << 20).into_boxed_str());
    assert!(matches!(run(long).await[..], [Err(ProviderError::TooLarge { .. })]));
}
