//! OpenSandbox's protocol against a server that answers as its contract says, or does not.

use std::collections::BTreeMap;
use std::time::Duration;

use sandgate_core::Secret;
use serde_json::json;

use super::OpenSandbox;
use crate::http::test_server::{Asked, JSON, TestServer};
use crate::{
    Deadlines, NetworkWish, OpenSandboxSettings, Provider, ProviderError, ProviderResult, Reach, Run, RunEnd,
    Said, Wish,
};

fn provider(server: &TestServer, use_server_proxy: bool) -> OpenSandbox {
    let settings = OpenSandboxSettings {
        url: format!("http://{}/v1", server.host),
        api_key: Some(Secret::new("the-key".to_owned())),
        image: "opensandbox/code-interpreter:v1.1.0".to_owned(),
        entrypoint: vec!["/opt/code-interpreter/code-interpreter.sh".to_owned()],
        use_server_proxy,
        extensions: BTreeMap::new(),
        deadlines: Deadlines {
            answer: Duration::from_secs(2),
            create: Duration::from_secs(10),
            ..Deadlines::default()
        },
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
        folder: "/mnt/data".to_owned(),
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
async fn a_sandbox_is_asked_for_with_all_ways_out_closed() {
    let inside = TestServer::start(|asked| well(asked, "", "")).await;
    let endpoint = format!("{}/inside", inside.host);
    let server = TestServer::start(move |asked| well(asked, &endpoint, "")).await;
    provider(&server, true).create(&wish()).await.unwrap();
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
    assert_eq!(inside.lines(), ["GET /inside/ping", "POST /inside/directories"]);
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
    let deleted = async {
        while !server.lines().contains(&"DELETE /v1/sandboxes/s-1".to_owned()) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), deleted).await.expect("the sandbox is deleted");
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
