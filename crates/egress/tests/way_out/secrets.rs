//! What a domain with secrets answers: no value in it comes inside, wherever it stands and whenever it comes.

use std::net::SocketAddr;

use sandgate_core::network::{NetworkLimits, NetworkPolicy};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;

use crate::support::{OPENED, World, within};
use crate::tls::{VALUE, get, tls, with_secret};

/// A server by TLS that says the head of each request it hears, and then answers with what it is given.
struct Told {
    address: SocketAddr,
    asked: mpsc::Receiver<String>,
    answers: mpsc::Sender<String>,
}

async fn told(world: &World) -> Told {
    let listener = TcpListener::bind((OPENED, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let acceptor = TlsAcceptor::from(world.authority.server(&["a.allowed.test"]).unwrap());
    let ((asking, asked), (answers, mut answering)) = (mpsc::channel(8), mpsc::channel::<String>(8));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let mut stream = acceptor.accept(stream).await.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            asking.send(String::from_utf8(head).unwrap()).await.unwrap();
            let answer = answering.recv().await.unwrap();
            stream.write_all(answer.as_bytes()).await.unwrap();
            let _ = stream.shutdown().await;
        }
    });
    Told { address, asked, answers }
}

/// A policy for it with the secret of its domain, and what stands for that.
fn policy(world: &World, server: &Told) -> (NetworkPolicy, String) {
    let (secret, placeholder) = with_secret(world, "a.allowed.test");
    let allowed = NetworkPolicy::from_words([&*format!("a.allowed.test:{}", server.address.port())]).unwrap();
    (NetworkPolicy { secrets: secret.secrets, ..allowed }, placeholder)
}

#[tokio::test]
async fn a_policy_that_changes_before_the_answer_lets_no_value_in() {
    let world = World::start().await;
    let mut server = told(&world).await;
    let (policy, placeholder) = policy(&world, &server);
    let inside = world.sandbox_with(&policy, NetworkLimits::default());
    let own = inside.attached.authority().unwrap().to_owned();
    let target = format!("a.allowed.test:{}", server.address.port());
    let stream = tls(&inside, &target, "a.allowed.test", &own).await.unwrap();
    let header = format!("X-Key: {placeholder}\r\n");
    let asking = tokio::spawn(async move { get(stream, "/", &target, &header).await });
    assert!(within(server.asked.recv()).await.unwrap().contains(VALUE));
    inside.policy.exchange(NetworkPolicy { secrets: Vec::new(), ..policy });
    server.answers.send(format!("HTTP/1.1 200 OK\r\nX-Said: {VALUE}\r\n\r\nbody {VALUE}")).await.unwrap();
    let answer = asking.await.unwrap();
    assert!(!answer.contains(VALUE), "{answer}");
    assert!(
        answer.to_lowercase().contains(&format!("x-said: {placeholder}")) && answer.contains("body "),
        "{answer}"
    );
}

#[tokio::test]
async fn a_value_in_the_name_of_a_header_does_not_come_inside() {
    let world = World::start().await;
    let mut server = told(&world).await;
    let (policy, placeholder) = policy(&world, &server);
    let inside = world.sandbox_with(&policy, NetworkLimits::default());
    let own = inside.attached.authority().unwrap().to_owned();
    let target = format!("a.allowed.test:{}", server.address.port());
    let stream = tls(&inside, &target, "a.allowed.test", &own).await.unwrap();
    let loud = VALUE.to_uppercase();
    let head = format!("X-{loud}: 1\r\nX-Other: 2\r\nContent-Length: 0\r\n");
    server.answers.send(format!("HTTP/1.1 200 OK\r\n{head}\r\n")).await.unwrap();
    let answer = get(stream, "/", &target, &format!("X-Key: {placeholder}\r\n")).await.to_lowercase();
    assert!(within(server.asked.recv()).await.unwrap().contains(VALUE));
    assert!(answer.contains("x-other: 2") && !answer.contains(VALUE), "{answer}");
}
