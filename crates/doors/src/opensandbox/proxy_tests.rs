//! The ways into a sandbox: who may take them, and what travels along.

use std::net::SocketAddr;
use std::time::Duration;

use axum::extract::Request as AnyRequest;
use sandgate_core::testing::ScriptedBackend;
use sandgate_gate::Metrics;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::super::OpenSandboxSettings;
use super::super::test_client::{Client, KEY, client, client_in_a_hurry, client_with};
use super::*;
use crate::server::Doors;

const LONGEST: Duration = Duration::from_secs(60);

/// Says what it was asked, and with which headers.
async fn inner() -> SocketAddr {
    let says = async |request: AnyRequest| {
        let mut names: Vec<_> = request.headers().keys().map(|name| name.as_str().to_owned()).collect();
        names.sort();
        format!("{} {} {}", request.method(), request.uri(), names.join(","))
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(says)).await });
    address
}

async fn place(master: Option<&str>) -> Client {
    let backend = Arc::new(ScriptedBackend::default());
    backend.ports.open(3000, inner().await);
    client_with(backend, OpenSandboxSettings::default(), master).await
}

#[tokio::test]
async fn no_way_in_is_open_without_its_token() {
    let client = client().await;
    let id = client.make(&json!({})).await;
    for port in [EXECD_PORT, EGRESS_PORT, 3000] {
        let path = if port == EGRESS_PORT { "/policy" } else { "/ping" };
        let (name, token) = client.token(&id, port).await;
        assert_eq!(client.inside(&id, port, path, &[]).await.status, 401, "{port}");
        assert_eq!(client.inside(&id, port, path, &[(&name, "wrong")]).await.status, 401, "{port}");
        // Not even with the right key beside it.
        let both = [(name.as_str(), "wrong"), ("OPEN-SANDBOX-API-KEY", KEY)];
        assert_eq!(client.inside(&id, port, path, &both).await.status, 401, "{port}");
        let right = client.inside(&id, port, path, &[(&name, &token)]).await;
        assert_eq!(right.status, if port == 3000 { 502 } else { 200 }, "{right:?}");
    }
    // One token is not another.
    let (_, execd) = client.token(&id, EXECD_PORT).await;
    assert_eq!(client.inside(&id, EGRESS_PORT, "/policy", &[(EGRESS_HEADER, &execd)]).await.status, 401);
    let refused = client.inside(&id, EXECD_PORT, "/ping", &[]).await.json();
    assert_eq!(refused["error"], "Unauthorized: invalid or missing header X-EXECD-ACCESS-TOKEN");
}

#[tokio::test]
async fn the_owners_key_opens_too_and_nobody_elses() {
    let client = client().await;
    let id = client.make(&json!({})).await;
    let with = async |key: &str| {
        client.inside(&id, EXECD_PORT, "/ping", &[("OPEN-SANDBOX-API-KEY", key)]).await.status
    };
    assert_eq!(with(KEY).await, 200);
    assert_eq!(with("bob").await, 404);
    assert_eq!(with("").await, 401);

    let closed = place(Some("the-master-key")).await;
    let made =
        closed.ask("the-master-key", "POST", "/v1/sandboxes", Some(super::super::test_client::least())).await;
    let id = made.json()["id"].as_str().unwrap().to_owned();
    let with = async |key: &str| {
        let answer = closed.inside(&id, EXECD_PORT, "/ping", &[("OPEN-SANDBOX-API-KEY", key)]).await;
        (answer.status, answer.field("code"))
    };
    assert_eq!(with("the-master-key").await.0, 200);
    assert_eq!(with("wrong").await, (401, "INVALID_API_KEY".to_owned()));
}

#[tokio::test]
async fn a_server_without_keys_takes_one_only_from_this_machine() {
    let client = client().await;
    let id = client.make(&json!({})).await;
    let request = axum::http::Request::get(format!("/sandboxes/{id}/proxy/44772/ping"))
        .header("host", "evil.example")
        .header("open-sandbox-api-key", KEY);
    assert_eq!(client.send(request.body(axum::body::Body::empty()).unwrap()).await.status, 421);
}

#[tokio::test]
async fn what_is_ours_does_not_travel_inside() {
    let client = place(None).await;
    let id = client.make(&json!({})).await;
    let (name, token) = client.token(&id, 3000).await;
    let headers = [
        (name.as_str(), token.as_str()),
        ("OPEN-SANDBOX-API-KEY", KEY),
        ("authorization", "Bearer secret"),
        ("cookie", "a=b"),
        ("x-forwarded-for", "1.2.3.4"),
        ("x-kept", "yes"),
    ];
    let answer = client.inside(&id, 3000, "/a%20b/c?d=e", &headers).await;
    assert_eq!(answer.text(), "GET /a%20b/c?d=e host,x-kept");
    assert!(answer.headers["content-security-policy"].to_str().unwrap().starts_with("sandbox"));
    assert_eq!(client.inside(&id, 3000, "", &headers).await.text(), "GET / host,x-kept");
    let closed = client.inside(&id, 3001, "/", &headers).await;
    assert_eq!((closed.status, closed.field("code").as_str()), (502, "BACKEND_CONNECTION_FAILED"));
}

#[tokio::test]
async fn a_paused_or_ended_sandbox_is_not_entered() {
    let client = client().await;
    let id = client.make(&json!({})).await;
    let (name, token) = client.token(&id, EXECD_PORT).await;
    let ping = async || client.inside(&id, EXECD_PORT, "/ping", &[(&name, &token)]).await;
    assert_eq!(client.ask(KEY, "POST", &format!("/v1/sandboxes/{id}/pause"), None).await.status, 202);
    assert_eq!(
        (ping().await.status, ping().await.field("code").as_str()),
        (409, "DOCKER::SANDBOX_NOT_RUNNING")
    );
    assert_eq!(client.ask(KEY, "DELETE", &format!("/v1/sandboxes/{id}"), None).await.status, 204);
    assert_eq!(ping().await.status, 404);
}

#[tokio::test]
async fn using_it_puts_off_the_end_where_that_was_asked_for() {
    let client = client().await;
    let id =
        client.make(&json!({"timeout": 60, "extensions": {"access.renew.extend.seconds": "3600"}})).await;
    let (name, token) = client.token(&id, EXECD_PORT).await;
    let before = client.leases.find(DOOR, &id).unwrap().ends_ms.unwrap();
    let skip = [(name.as_str(), token.as_str()), ("OpenSandbox-Access-Renew", "skip")];
    assert_eq!(client.inside(&id, EXECD_PORT, "/ping", &skip).await.status, 200);
    assert_eq!(client.leases.find(DOOR, &id).unwrap().ends_ms, Some(before));
    assert_eq!(client.inside(&id, EXECD_PORT, "/ping", &skip[..1]).await.status, 200);
    let put_off = async {
        while client.leases.find(DOOR, &id).unwrap().ends_ms.unwrap() < before + 3_000_000 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LONGEST, put_off).await.expect("the end is put off");
}

#[test]
fn odd_ports_are_named() {
    for port in ["0", "65536", "+80", "x", ""] {
        assert!(wanted(&format!("/sandboxes/a/proxy/{port}/x")).is_err(), "{port}");
    }
    assert_eq!(wanted("/sandboxes/a/proxy/80").unwrap(), ("a".to_owned(), 80, "/".to_owned()));
    assert_eq!(wanted("/sandboxes/a/proxy/80//b/c").unwrap(), ("a".to_owned(), 80, "//b/c".to_owned()));
}

/// A program inside that speaks something else after its greeting.
async fn switching() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(socket.read_u8().await.unwrap());
        }
        let answer = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";
        socket.write_all(answer.as_bytes()).await.unwrap();
        let mut word = [0; 5];
        socket.read_exact(&mut word).await.unwrap();
        socket.write_all(&word).await.unwrap();
        socket.read_u8().await.ok();
    });
    address
}

#[tokio::test]
async fn a_websocket_goes_through_until_the_sandbox_ends() {
    let backend = Arc::new(ScriptedBackend::default());
    backend.ports.open(3000, switching().await);
    let client = client_with(backend, OpenSandboxSettings::default(), None).await;
    let id = client.make(&json!({})).await;
    let (name, token) = client.token(&id, 3000).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
    let _stop = stop.clone().drop_guard();
    let stopping = crate::Stopping::new(TaskTracker::new(), stop.clone());
    let front = crate::Front { metrics: Metrics::default(), stopping, e2b_domain: None };
    let doors = Doors::only_opensandbox(client.front.clone());
    tokio::spawn(stop.run_until_cancelled_owned(crate::serve(listener, None, doors, front)));
    let mut socket = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "GET /sandboxes/{id}/proxy/3000/ws HTTP/1.1\r\nhost: {address}\r\nconnection: Upgrade\r\n\
         upgrade: websocket\r\n{name}: {token}\r\n\r\nhello"
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut said = Vec::new();
    while !said.ends_with(b"hello") {
        let byte = timeout(LONGEST, socket.read_u8()).await.unwrap().unwrap();
        said.push(byte);
    }
    assert!(String::from_utf8_lossy(&said).starts_with("HTTP/1.1 101"));
    client.leases.delete(&id).await.unwrap();
    let mut rest = Vec::new();
    let _ = timeout(LONGEST, socket.read_to_end(&mut rest)).await.expect("the tunnel ends with the sandbox");
}

#[tokio::test]
async fn a_body_that_comes_too_slowly_is_not_waited_for() {
    let client = client_in_a_hurry().await;
    let id = client.make(&json!({})).await;
    let (name, token) = client.token(&id, EXECD_PORT).await;
    for path in ["code", "command", "files/mv"] {
        let never = futures_util::stream::pending::<Result<bytes::Bytes, std::io::Error>>();
        let request = AnyRequest::post(format!("/v1/sandboxes/{id}/proxy/{EXECD_PORT}/{path}"))
            .header(&name, &token)
            .body(axum::body::Body::from_stream(never));
        let answer = timeout(LONGEST, client.send(request.unwrap())).await.expect("an answer");
        assert_eq!((answer.status, answer.text().contains("too slowly")), (408, true), "{path}");
    }
}
