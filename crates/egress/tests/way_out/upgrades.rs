//! Connections that change their protocol are still connections of the sandbox; only websockets may.

use std::net::SocketAddr;

use crate::support::{Inside, OPENED, World, read_all, within};
use sandgate_core::network::{NetworkLimits, NetworkPolicy};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// A server that changes to another protocol whatever it is asked, and then repeats what it hears. Gives where it is,
/// and the heads of what it was asked.
async fn changing() -> (SocketAddr, mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind((OPENED, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let (heads, asked) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let heads = heads.clone();
            tokio::spawn(async move {
                let head = read_head(&mut stream).await;
                let _ = heads.send(head);
                let answer =
                    b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";
                stream.write_all(answer).await.unwrap();
                let (mut reading, mut writing) = stream.split();
                let _ = tokio::io::copy(&mut reading, &mut writing).await;
            });
        }
    });
    (address, asked)
}

async fn read_head(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        bytes.push(within(stream.read_u8()).await.unwrap());
    }
    String::from_utf8(bytes).unwrap()
}

/// A sandbox that may reach it by one connection at a time.
fn sandbox(world: &World, server: SocketAddr) -> Inside {
    let policy = NetworkPolicy::from_words([format!("a.allowed.test:{}", server.port()).as_str()]).unwrap();
    world.sandbox_with(&policy, NetworkLimits { connections: 1, ..NetworkLimits::default() })
}

async fn asked_for(inside: &Inside, server: SocketAddr, protocol: &str) -> TcpStream {
    let host = format!("a.allowed.test:{}", server.port());
    let mut stream = TcpStream::connect(inside.proxy).await.unwrap();
    let request = format!(
        "GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade, HTTP2-Settings\r\n\
         Upgrade: {protocol}\r\nHTTP2-Settings: AAMAAABk\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn a_changed_connection_keeps_its_place_and_ends_with_the_policy() {
    let world = World::start().await;
    let (server, _asked) = changing().await;
    let inside = sandbox(&world, server);
    let mut stream = asked_for(&inside, server, "websocket").await;
    assert!(read_head(&mut stream).await.starts_with("HTTP/1.1 101"));
    stream.write_all(b"hello").await.unwrap();
    let mut heard = [0; 5];
    within(stream.read_exact(&mut heard)).await.unwrap();
    assert_eq!(&heard, b"hello");
    let (_, second) = inside.connect(&format!("a.allowed.test:{}", server.port())).await;
    assert!(second.starts_with("HTTP/1.1 429"), "{second}");
    inside.policy.exchange(NetworkPolicy::disabled());
    assert_eq!(read_all(&mut stream).await, "");
    let seen = inside.seen(2).await;
    let changed = seen.iter().find(|seen| seen.sent > 0).unwrap();
    assert!(
        changed.received > 5 && format!("{:?}", changed.verdict).contains("no rule allows"),
        "{changed:?}"
    );
}

#[tokio::test]
async fn no_other_protocol_is_asked_for_or_passed_on() {
    let world = World::start().await;
    let (server, mut asked) = changing().await;
    let inside = sandbox(&world, server);
    let mut stream = asked_for(&inside, server, "h2c").await;
    let answer = read_head(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 502") && answer.contains("unasked"), "{answer}");
    let head = within(asked.recv()).await.unwrap().to_ascii_lowercase();
    assert!(!head.contains("upgrade") && !head.contains("http2-settings"), "{head}");
}

/// Neither end takes what it has for the whole, and it is written down why.
#[tokio::test]
async fn a_changed_connection_that_is_cut_says_so() {
    let world = World::start().await;
    let (server, _asked) = changing().await;
    let policy = NetworkPolicy::from_words([format!("a.allowed.test:{}", server.port()).as_str()]).unwrap();
    let limits = NetworkLimits { bytes: Some(4000), ..NetworkLimits::default() };
    for by_policy in [false, true] {
        let inside = world.sandbox_with(&policy, limits);
        let mut stream = asked_for(&inside, server, "websocket").await;
        assert!(read_head(&mut stream).await.starts_with("HTTP/1.1 101"));
        let why = if by_policy {
            inside.policy.exchange(NetworkPolicy::disabled());
            "no rule allows"
        } else {
            stream.write_all(&[7; 8000]).await.unwrap();
            "used up"
        };
        let ended = within(stream.read_to_end(&mut Vec::new())).await;
        assert_eq!(ended.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset, "{by_policy}");
        assert!(inside.denials(1).await[0].contains(why));
    }
}
