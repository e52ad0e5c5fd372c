//! How fast a sandbox is, by every way, and that what it has used up is gone by every way too. A clock can only show that
//! something is too fast: a busy machine makes nothing faster.

use std::time::{Duration, Instant};

use crate::proxy::{socks, socks_request, status};
use crate::support::{Inside, World, read_all};
use sandgate_core::network::NetworkLimits;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// A second of it may pass at once.
const SPEED: u64 = 1_000_000;
const LENGTH: usize = 2_500_000;
/// Of the second and a half that the rest takes.
const AT_LEAST: Duration = Duration::from_millis(1200);

fn slow(world: &World) -> Inside {
    let limits = NetworkLimits { bytes_per_second: Some(SPEED), ..NetworkLimits::default() };
    world.sandbox_with(&world.usual(), limits)
}

#[track_caller]
fn assert_slow(began: Instant, length: usize) {
    assert!(length > LENGTH, "all of it: {length}");
    assert!(began.elapsed() > AT_LEAST, "faster than allowed: {:?}", began.elapsed());
}

async fn download(mut stream: TcpStream, port: u16) -> usize {
    let request =
        format!("GET /bytes/{LENGTH} HTTP/1.1\r\nHost: a.allowed.test:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    read_all(&mut stream).await.len()
}

#[tokio::test]
async fn requests_are_no_faster_than_allowed() {
    let world = World::start().await;
    let (inside, port, began) = (slow(&world), world.http_port(), Instant::now());
    let answer = inside.get(&format!("http://a.allowed.test:{port}/bytes/{LENGTH}"), "").await;
    assert_slow(began, answer.len());
}

#[tokio::test]
async fn a_tunnel_is_no_faster_than_allowed() {
    let world = World::start().await;
    let (inside, port, began) = (slow(&world), world.http_port(), Instant::now());
    let (stream, answer) = inside.connect(&format!("a.allowed.test:{port}")).await;
    assert_eq!(status(&answer), "200", "{answer}");
    assert_slow(began, download(stream, port).await);
}

#[tokio::test]
async fn socks_is_no_faster_than_allowed() {
    let world = World::start().await;
    let (inside, port, began) = (slow(&world), world.http_port(), Instant::now());
    let (stream, code) = socks(&inside, &socks_request(1, "a.allowed.test", port)).await;
    assert_eq!(code, 0);
    assert_slow(began, download(stream, port).await);
}

/// Bytes that nobody looks at, which the kernel moves.
#[tokio::test]
async fn what_is_only_passed_on_is_no_faster_than_allowed() {
    let world = World::start().await;
    let (server, heard) = crate::support::listening().await;
    let limits = NetworkLimits { bytes_per_second: Some(SPEED), ..NetworkLimits::default() };
    let target = format!("a.allowed.test:{}", server.port());
    let policy = sandgate_core::network::NetworkPolicy::from_words([target.as_str()]).unwrap();
    let inside = world.sandbox_with(&policy, limits);
    let (mut stream, answer) = inside.connect(&target).await;
    assert_eq!(status(&answer), "200", "{answer}");
    let began = Instant::now();
    stream.write_all(&vec![0; LENGTH + 1]).await.unwrap();
    crate::support::within(async {
        while heard.lock().unwrap().len() <= LENGTH {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    assert_slow(began, heard.lock().unwrap().len());
}
