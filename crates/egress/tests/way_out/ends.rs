//! How answers end: whole, or with an error that nobody takes for an end.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use crate::support::{Inside, OPENED, World, read_all, within};
use sandgate_core::network::{NetworkLimits, NetworkPolicy};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A server, and a sandbox that may reach it by this name.
async fn server(world: &World, limits: NetworkLimits) -> (TcpListener, Inside, String) {
    let listener = TcpListener::bind((OPENED, 0)).await.unwrap();
    let host = format!("a.allowed.test:{}", listener.local_addr().unwrap().port());
    let policy = NetworkPolicy::from_words([&*host]).unwrap();
    (listener, world.sandbox_with(&policy, limits), host)
}

async fn read_head(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        bytes.push(within(stream.read_u8()).await.unwrap());
    }
    String::from_utf8(bytes).unwrap()
}

fn reset(stream: TcpStream) {
    let stream = stream.into_std().unwrap();
    rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
}

/// By the proxy with its whole URL, or in a tunnel.
async fn asked(inside: &Inside, host: &str, by_tunnel: bool) -> TcpStream {
    if by_tunnel {
        let (mut stream, answer) = inside.connect(host).await;
        assert!(answer.contains(" 200 "), "{answer}");
        stream.write_all(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).await.unwrap();
        return stream;
    }
    let mut stream = TcpStream::connect(inside.proxy).await.unwrap();
    let request = format!("GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// What no length tells to be missing: without the error it would be a whole file.
#[tokio::test]
async fn an_answer_that_ends_with_its_connection_is_not_cut_silently() {
    let world = World::start().await;
    for by_tunnel in [false, true] {
        for by_policy in [false, true] {
            let (listener, inside, host) = server(&world, NetworkLimits::default()).await;
            let mut client = asked(&inside, &host, by_tunnel).await;
            let (mut stream, _) = within(listener.accept()).await.unwrap();
            read_head(&mut stream).await;
            stream.write_all(b"HTTP/1.0 200 OK\r\n\r\nsome of it").await.unwrap();
            let mut got = Vec::new();
            while !got.ends_with(b"some of it") {
                got.push(within(client.read_u8()).await.unwrap());
            }
            assert!(!got.windows(7).any(|part| part == b"chunked"), "{}", String::from_utf8_lossy(&got));
            if by_policy {
                inside.policy.exchange(NetworkPolicy::disabled());
            } else {
                reset(stream);
            }
            let ended = within(client.read(&mut [0; 10])).await;
            assert_eq!(ended.unwrap_err().kind(), ErrorKind::ConnectionReset, "{by_tunnel} {by_policy}");
        }
    }
}

#[tokio::test]
async fn an_answer_that_is_whole_ends_well() {
    let world = World::start().await;
    let (listener, inside, host) = server(&world, NetworkLimits::default()).await;
    let mut client = asked(&inside, &host, false).await;
    let (mut stream, _) = within(listener.accept()).await.unwrap();
    read_head(&mut stream).await;
    stream.write_all(b"HTTP/1.0 200 OK\r\n\r\nall of it").await.unwrap();
    drop(stream);
    let mut got = String::new();
    within(client.read_to_string(&mut got)).await.unwrap();
    assert!(got.ends_with("all of it"), "{got}");
}

/// `printf … | nc -N`, and older programs.
#[tokio::test]
async fn who_asks_and_says_no_more_is_answered() {
    let world = World::start().await;
    for by_tunnel in [false, true] {
        let (listener, inside, host) = server(&world, NetworkLimits::default()).await;
        let mut client = asked(&inside, &host, by_tunnel).await;
        client.shutdown().await.unwrap();
        let (mut stream, _) = within(listener.accept()).await.unwrap();
        read_head(&mut stream).await;
        // Long enough for the end to be heard before the answer.
        tokio::time::sleep(Duration::from_millis(100)).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await.unwrap();
        assert!(read_all(&mut client).await.ends_with("ok"));
    }
}

#[tokio::test]
async fn who_is_gone_while_it_waits_is_noticed() {
    let world = World::start().await;
    for has_ended in [false, true] {
        let (listener, inside, host) = server(&world, NetworkLimits::default()).await;
        let mut client = asked(&inside, &host, false).await;
        let (mut stream, _) = within(listener.accept()).await.unwrap();
        read_head(&mut stream).await;
        if has_ended {
            client.shutdown().await.unwrap();
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        reset(client);
        assert!(matches!(within(stream.read(&mut [0; 1])).await, Ok(0) | Err(_)), "{has_ended}");
    }
}

/// A server may close a connection that was kept just as the next request leaves. The client asks again by itself, as it
/// would without a proxy.
#[tokio::test]
async fn a_kept_connection_that_closes_is_no_answer() {
    let world = World::start().await;
    let (listener, inside, host) = server(&world, NetworkLimits::default()).await;
    let mut client = asked(&inside, &host, false).await;
    let (mut stream, _) = within(listener.accept()).await.unwrap();
    read_head(&mut stream).await;
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await.unwrap();
    assert!(read_head(&mut client).await.starts_with("HTTP/1.1 200"));
    within(client.read_exact(&mut [0; 2])).await.unwrap();
    let request = format!("GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n");
    client.write_all(request.as_bytes()).await.unwrap();
    read_head(&mut stream).await;
    drop(stream);
    assert_eq!(read_all(&mut client).await, "");
    // The first of a connection is told.
    let mut client = asked(&inside, &host, false).await;
    let (mut stream, _) = within(listener.accept()).await.unwrap();
    read_head(&mut stream).await;
    drop(stream);
    assert!(read_head(&mut client).await.starts_with("HTTP/1.1 502"));
}

#[tokio::test]
async fn answers_of_the_proxy_itself_have_a_rate() {
    let world = World::start().await;
    let inside = world.sandbox();
    let mut client = TcpStream::connect(inside.proxy).await.unwrap();
    let count = 210;
    let began = Instant::now();
    client.write_all("GET / HTTP/1.1\r\n\r\n".repeat(count).as_bytes()).await.unwrap();
    for _ in 0..count {
        assert!(read_head(&mut client).await.starts_with("HTTP/1.1 400"));
        let mut body = Vec::new();
        while !body.ends_with(b"\n") {
            body.push(within(client.read_u8()).await.unwrap());
        }
    }
    assert!(began.elapsed() >= Duration::from_millis(250), "{:?}", began.elapsed());
}

/// Programs that look names up themselves ask a proxy for the address that they got.
#[tokio::test]
async fn an_address_that_stands_for_a_name_is_reached_through_the_proxies() {
    let world = World::start().await;
    let inside = world.sandbox();
    let port = world.http_port();
    let (_, address) = inside.lookup("a.allowed.test").await;
    let [a, b, c, d] = address.unwrap();
    let request = format!("GET /x HTTP/1.1\r\nHost: a.allowed.test:{port}\r\nConnection: close\r\n\r\n");
    let (mut stream, answer) = inside.connect(&format!("{a}.{b}.{c}.{d}:{port}")).await;
    assert!(answer.contains(" 200 "), "{answer}");
    stream.write_all(request.as_bytes()).await.unwrap();
    assert!(read_all(&mut stream).await.contains("GET /x"));
    let mut stream = TcpStream::connect(inside.socks).await.unwrap();
    stream.write_all(&[5, 1, 0, 5, 1, 0, 1, a, b, c, d]).await.unwrap();
    stream.write_all(&port.to_be_bytes()).await.unwrap();
    let mut said = [0; 12];
    within(stream.read_exact(&mut said)).await.unwrap();
    assert_eq!(said[..4], [5, 0, 5, 0]);
    stream.write_all(request.as_bytes()).await.unwrap();
    assert!(read_all(&mut stream).await.contains("GET /x"));
    // One that was never given out is what it was.
    let (_, answer) = inside.connect(&format!("198.19.255.1:{port}")).await;
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
}
