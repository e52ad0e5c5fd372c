//! Through a port: what goes in, what comes out, and what stays here.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request as AnyRequest;
use axum::http::Request as HttpRequest;
use axum::http::header::{CONNECTION, UPGRADE};
use axum::routing::{any, get};
use hyper_util::rt::TokioIo;
use sandgate_gate::Metrics;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::super::test_client::{Client, Made, client};
use super::*;
use crate::server::Doors;

const LONGEST: Duration = Duration::from_secs(60);

/// Says what it was asked for; sends a body back; answers a websocket's greeting and then echoes.
async fn inner() -> SocketAddr {
    let says = async |request: AnyRequest| {
        let mut names: Vec<_> = request
            .headers()
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect();
        names.sort();
        format!("{} {}\n{}", request.method(), request.uri(), names.join("\n"))
    };
    let switch = async |mut request: AnyRequest| {
        let upgrade = hyper::upgrade::on(&mut request);
        tokio::spawn(async move {
            let mut stream = TokioIo::new(upgrade.await.unwrap());
            let mut buffer = [0; 64];
            while let Ok(read @ 1..) = stream.read(&mut buffer).await {
                stream.write_all(&buffer[..read]).await.unwrap();
            }
        });
        (StatusCode::SWITCHING_PROTOCOLS, [(CONNECTION, "upgrade"), (UPGRADE, "websocket")])
    };
    let router = Router::new()
        .route("/echo", any(async |body: Body| body))
        .route("/switch", get(switch))
        .route("/hop", get(async || ([("keep-alive", "timeout=5"), ("x-kept", "yes")], "hop")))
        .fallback(says);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (connection, _) = listener.accept().await.unwrap();
            let service = hyper_util::service::TowerToHyperService::new(router.clone());
            tokio::spawn(
                hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(connection), service)
                    .with_upgrades(),
            );
        }
    });
    address
}

async fn place() -> (Client, Made) {
    let client = client().await;
    client.backend.ports.open(3000, inner().await);
    let made = client.make(json!({})).await;
    (client, made)
}

fn host(made: &Made) -> String {
    format!("3000-{}.localhost:4000", made.id)
}

#[tokio::test]
async fn a_request_goes_in_without_what_is_ours() {
    let (client, made) = place().await;
    let request = HttpRequest::get("/a/b?c=d%20e")
        .header("host", host(&made))
        .header(TRAFFIC_HEADER, &made.traffic)
        .header("x-api-key", "sg-secret")
        .header("cookie", format!("mine=1; {TRAFFIC_HEADER}={}", made.traffic))
        .header("connection", "close, x-hop")
        .header("x-hop", "1")
        .header("authorization", "Bearer theirs");
    let answer = client.send(request.body(Body::empty()).unwrap()).await;
    let said = String::from_utf8(answer.body.to_vec()).unwrap();
    assert_eq!(answer.status, 200, "{said}");
    let expected =
        format!("GET /a/b?c=d%20e\nauthorization: Bearer theirs\ncookie: mine=1\nhost: {}", host(&made));
    assert_eq!(said, expected);
}

#[tokio::test]
async fn by_path_pages_have_no_origin() {
    let (client, made) = place().await;
    let path = format!("/e2b/ports/{}/3000/hop", made.id);
    let ask = async |uri: String, token: &str| {
        let request = HttpRequest::get(uri).header("host", "localhost").header(TRAFFIC_HEADER, token);
        client.send(request.body(Body::empty()).unwrap()).await
    };
    let answer = ask(path.clone(), &made.traffic).await;
    assert_eq!((answer.status, &answer.body[..]), (200, &b"hop"[..]));
    assert_eq!(answer.headers["x-kept"], "yes");
    assert!(!answer.headers.contains_key("keep-alive"));
    assert!(answer.headers["content-security-policy"].to_str().unwrap().starts_with("sandbox"));
    assert!(!answer.headers["content-security-policy"].to_str().unwrap().contains("same-origin"));
    assert_eq!(ask(path.clone(), "wrong").await.status, 403);
    // Whoever cannot send headers writes it behind the question mark; it does not travel on.
    let uri = format!("/e2b/ports/{}/3000/x?a=1&{TRAFFIC_HEADER}={}", made.id, made.traffic);
    let request = HttpRequest::get(uri).header("host", "localhost").body(Body::empty()).unwrap();
    let said = String::from_utf8(client.send(request).await.body.to_vec()).unwrap();
    assert!(said.starts_with("GET /x?a=1\n"), "{said}");
}

#[tokio::test]
async fn a_browser_brings_the_token_once() {
    let (client, made) = place().await;
    let ask = async |uri: &str, more: &[(&str, &str)]| {
        let mut request = HttpRequest::get(uri).header("host", host(&made));
        for (name, value) in more {
            request = request.header(*name, *value);
        }
        client.send(request.body(Body::empty()).unwrap()).await
    };
    let first = ask(&format!("/a?b=c&{TRAFFIC_HEADER}={}", made.traffic), &[]).await;
    assert_eq!((first.status, first.headers["location"].to_str().unwrap()), (303, "/a?b=c"));
    let cookie = first.headers["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite"), "{cookie}");
    let kept = cookie.split(';').next().unwrap();
    let site = "sec-fetch-site";
    for own in ["same-origin", "none"] {
        assert_eq!(ask("/a", &[("cookie", kept), (site, own)]).await.status, 200, "{own}");
    }
    let followed = [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
    assert_eq!(
        ask("/a", &[&[("cookie", kept), (site, "cross-site")][..], &followed].concat()).await.status,
        200
    );
    for foreign in ["same-site", "cross-site"] {
        assert_eq!(ask("/a", &[("cookie", kept), (site, foreign)]).await.status, 403, "{foreign}");
    }
    assert_eq!(ask("/a", &[("cookie", kept)]).await.status, 403, "no browser of today");
    let evil = [("cookie", kept), (site, "same-origin"), ("origin", "http://evil.example")];
    assert_eq!(ask("/a", &evil).await.status, 403);
    assert_eq!(ask(&format!("/a?{TRAFFIC_HEADER}=wrong"), &[]).await.status, 403);
    let elsewhere = ask(&format!("//evil.example/?{TRAFFIC_HEADER}={}", made.traffic), &[]).await;
    assert!(!elsewhere.headers["location"].to_str().unwrap().starts_with("//"));
}

#[tokio::test]
async fn a_masked_host_is_what_the_program_inside_sees() {
    let (client, _) = place().await;
    let made = client.make(json!({"network": {"maskRequestHost": "localhost:${PORT}"}})).await;
    let request = HttpRequest::get("/").header("host", host(&made)).header(TRAFFIC_HEADER, &made.traffic);
    let said = client.send(request.body(Body::empty()).unwrap()).await;
    assert!(String::from_utf8_lossy(&said.body).contains("host: localhost:3000"), "{said:?}");
}

/// The whole server, on a real socket.
async fn served(client: &Client) -> (SocketAddr, DropGuard) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
    let doors = Doors::only_e2b(client.front.clone());
    let stopping = crate::Stopping::new(TaskTracker::new(), stop.clone());
    let front = crate::Front { metrics: Metrics::default(), stopping, e2b_domain: None };
    tokio::spawn(stop.clone().run_until_cancelled_owned(crate::serve(listener, None, doors, front)));
    (address, stop.drop_guard())
}

async fn read_until(socket: &mut TcpStream, end: &str) -> String {
    let mut text = Vec::new();
    while !String::from_utf8_lossy(&text).contains(end) {
        let mut buffer = [0; 1024];
        let read = timeout(LONGEST, socket.read(&mut buffer)).await.unwrap().unwrap();
        assert!(read > 0, "{}", String::from_utf8_lossy(&text));
        text.extend_from_slice(&buffer[..read]);
    }
    String::from_utf8(text).unwrap()
}

#[tokio::test]
async fn a_websocket_goes_through_until_the_sandbox_ends() {
    let (client, made) = place().await;
    let (address, _stop) = served(&client).await;
    let mut socket = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "GET /switch HTTP/1.1\r\nhost: {}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\
         {TRAFFIC_HEADER}: {}\r\n\r\n",
        host(&made),
        made.traffic
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    let answer = read_until(&mut socket, "\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 101"), "{answer}");
    assert!(answer.to_lowercase().contains("upgrade: websocket"), "{answer}");
    for text in ["hello", "again"] {
        socket.write_all(text.as_bytes()).await.unwrap();
        assert_eq!(read_until(&mut socket, text).await, text);
    }
    client.leases.delete(&made.id).await.unwrap();
    let mut rest = Vec::new();
    // Closed, in whatever way.
    let _ = timeout(LONGEST, socket.read_to_end(&mut rest)).await.expect("the tunnel ends with the sandbox");
}

#[tokio::test]
async fn bodies_flow_both_ways_at_once() {
    let (client, made) = place().await;
    let (address, _stop) = served(&client).await;
    let mut socket = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /echo HTTP/1.1\r\nhost: {}\r\ntransfer-encoding: chunked\r\n{TRAFFIC_HEADER}: {}\r\n\r\n",
        host(&made),
        made.traffic
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    socket.write_all(b"5\r\nfirst\r\n").await.unwrap();
    // The answer comes while the question is still being asked.
    read_until(&mut socket, "first").await;
    socket.write_all(b"6\r\nsecond\r\n0\r\n\r\n").await.unwrap();
    read_until(&mut socket, "second").await;
}

#[test]
fn over_tls_the_cookie_is_the_hosts_alone() {
    let cookie =
        |over_tls| remembered("/", "ta_x", over_tls).headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie(true).starts_with("__Host-") && cookie(true).ends_with("; Secure"));
    assert!(cookie(false).starts_with(TRAFFIC_HEADER) && !cookie(false).contains("Secure"));
    assert!(is_our_cookie(TRAFFIC_HEADER) && is_our_cookie(&format!("__Host-{TRAFFIC_HEADER}")));
    assert!(!is_our_cookie("mine"));
}
