//! Code that has its own guesses sent back by a domain with a secret learns nothing from how they come.

use std::net::SocketAddr;

use sandgate_core::Secret;
use sandgate_core::network::{DomainSecret, NetworkLimits, NetworkPolicy};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::client::TlsStream;

use crate::support::{Inside, OPENED, World, within};
use crate::tls::tls;

/// A server by TLS that answers each connection with these pieces, one after the other, and then closes it.
async fn saying(world: &World, pieces: Vec<Vec<u8>>) -> SocketAddr {
    let listener = TcpListener::bind((OPENED, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let acceptor = TlsAcceptor::from(world.authority.server(&["a.allowed.test"]).unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, pieces) = (acceptor.clone(), pieces.clone());
            tokio::spawn(async move {
                let mut stream = acceptor.accept(stream).await.unwrap();
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(stream.read_u8().await.unwrap());
                }
                for piece in pieces {
                    stream.write_all(&piece).await.unwrap();
                    stream.flush().await.unwrap();
                    // So that each is read by itself.
                    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
                }
                let _ = stream.shutdown().await;
            });
        }
    });
    address
}

async fn asked(
    world: &World,
    server: SocketAddr,
    value: &str,
    request: &str,
) -> (Inside, TlsStream<TcpStream>) {
    let secret =
        DomainSecret::new("a.allowed.test", "KEY".to_owned(), Secret::new(value.to_owned())).unwrap();
    let target = format!("a.allowed.test:{}", server.port());
    let policy =
        NetworkPolicy { secrets: vec![secret], ..NetworkPolicy::from_words([target.as_str()]).unwrap() };
    let inside = world.sandbox_with(&policy, NetworkLimits::default());
    let own = inside.attached.authority().unwrap().to_owned();
    let mut stream = tls(&inside, &target, "a.allowed.test", &own).await.unwrap();
    let (method, more) = request.split_once('|').unwrap();
    let head = format!("{method} / HTTP/1.1\r\nHost: {target}\r\n{more}\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    (inside, stream)
}

async fn head(stream: &mut TlsStream<TcpStream>) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(within(stream.read_u8()).await.unwrap());
    }
    String::from_utf8(head).unwrap().to_ascii_lowercase()
}

/// The sizes of the chunks of an answer.
async fn chunks(stream: &mut TlsStream<TcpStream>) -> Vec<usize> {
    assert!(head(stream).await.contains("transfer-encoding: chunked"));
    let mut sizes = Vec::new();
    loop {
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            line.push(within(stream.read_u8()).await.unwrap());
        }
        let size = usize::from_str_radix(std::str::from_utf8(&line).unwrap().trim(), 16).unwrap();
        let mut content = vec![0; size + 2];
        within(stream.read_exact(&mut content)).await.unwrap();
        if size == 0 {
            return sizes;
        }
        sizes.push(size);
    }
}

#[tokio::test]
async fn chunks_do_not_tell_how_much_of_a_guess_is_right() {
    let world = World::start().await;
    let mut pieces = vec![b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".to_vec()];
    // Right to the third letter, to the sixth, and all but the last; and one that a line ends.
    for guess in ["#ghp", "#ghp_9f", "#ghp_9fX2kLmQ7wErTyUi3Ab", "#ghp_9fX2\n", "#ghp_wrong"] {
        pieces.push(guess.as_bytes().to_vec());
    }
    let server = saying(&world, pieces).await;
    let mut sizes = Vec::new();
    for value in ["ghp_9fX2kLmQ7wErTyUi3AbZ", "something-else"] {
        let (_inside, mut stream) = asked(&world, server, value, "GET|").await;
        sizes.push(chunks(&mut stream).await);
    }
    assert_eq!(sizes[0], sizes[1]);
    assert_eq!(sizes[0], [4 + 7 + 24 + 10, 10], "a line that is whole comes, and the rest at the end");
}

#[tokio::test]
async fn websockets_do_not_either_and_whole_messages_come_at_once() {
    let world = World::start().await;
    let upgraded = b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";
    let guess = b"ghp_9fX2kLmQ7wErTyUi3Ab";
    let message = [&[0x81, 23][..], guess].concat();
    // Held open by what is only begun.
    let pieces = vec![upgraded.to_vec(), message.clone(), b"\x81\x7d".to_vec(), guess.to_vec()];
    let server = saying(&world, pieces).await;
    let ask = "GET|Connection: Upgrade\r\nUpgrade: websocket\r\n";
    for value in ["ghp_9fX2kLmQ7wErTyUi3AbZ", "something-else"] {
        let (_inside, mut stream) = asked(&world, server, value, ask).await;
        assert!(head(&mut stream).await.starts_with("http/1.1 101"));
        let mut came = Vec::new();
        let _ = within(stream.read_to_end(&mut came)).await;
        assert_eq!(came, message, "{value}");
    }
    // Its own value ends it, with no byte of it inside.
    let (_inside, mut stream) = asked(&world, server, "ghp_9fX2kLmQ7w", ask).await;
    head(&mut stream).await;
    let mut came = Vec::new();
    let _ = within(stream.read_to_end(&mut came)).await;
    assert!(came.is_empty(), "{came:?}");
}

/// Programs that fetch in pieces ask for the length first.
#[tokio::test]
async fn an_answer_to_head_keeps_its_length() {
    let world = World::start().await;
    for status in ["200 OK", "302 Found"] {
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 12345\r\nX-Linked-Size: 7\r\n\r\n");
        let server = saying(&world, vec![answer.into_bytes()]).await;
        let (_inside, mut stream) = asked(&world, server, "something-else", "HEAD|").await;
        let head = head(&mut stream).await;
        assert!(head.contains("content-length: 12345") && !head.contains("chunked"), "{status}: {head}");
    }
    let server = saying(&world, vec![b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody".to_vec()]).await;
    let (_inside, mut stream) = asked(&world, server, "something-else", "GET|").await;
    assert!(!head(&mut stream).await.contains("content-length"), "it may change");
}
