//! Clients that hold connections as long as they can, through real sockets; and honest ones beside them.

use std::net::SocketAddr;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::routing::{get, post};
use futures_util::{StreamExt, stream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::DropGuard;

use super::*;

/// So short that tests need not wait, and long enough for a busy machine.
const SHORT: Duration = Duration::from_millis(600);
const LONGEST: Duration = Duration::from_secs(60);

fn bounds() -> Bounds {
    let body = BodyPatience { silence: SHORT, at_first: 2 * SHORT, bytes_a_second: 1 << 20 };
    Bounds { connections: 4, head: SHORT, body, stalled: SHORT }
}

/// Says how much came; talks for long; talks for ever.
fn doors() -> Doors {
    let count = |body: Result<Bytes, BytesRejection>| async { Ok::<_, Refusal>(body?.len().to_string()) };
    let talk = async |pieces: usize, every: Duration, piece: Vec<u8>| {
        Body::from_stream(stream::iter(0..pieces).then(move |_| {
            let piece = piece.clone();
            async move {
                sleep(every).await;
                Ok::<_, io::Error>(piece)
            }
        }))
    };
    let keyed = Router::new()
        .route("/count", post(count))
        .route("/long", get(move || talk(12, SHORT / 4, b"piece ".to_vec())))
        .route("/flood", get(move || talk(usize::MAX, Duration::ZERO, vec![b'x'; 1 << 16])));
    Doors { keyed, e2b: None, opensandbox: None }
}

async fn server(bounds: Bounds) -> (SocketAddr, DropGuard) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
    tokio::spawn(serve_within(bounds, listener, None, doors(), stop.clone()));
    (address, stop.drop_guard())
}

async fn send(address: SocketAddr, text: &str) -> TcpStream {
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(text.as_bytes()).await.unwrap();
    socket
}

/// Everything until the server closes.
async fn rest(mut socket: TcpStream) -> String {
    let mut bytes = Vec::new();
    let read = timeout(LONGEST, socket.read_to_end(&mut bytes)).await.expect("the server closes");
    assert!(read.is_ok() || !bytes.is_empty(), "{read:?}");
    String::from_utf8(bytes).unwrap()
}

const HEAD: &str = "POST /count HTTP/1.1\r\nhost: localhost\r\n";
const WHOLE: &str =
    "POST /count HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello";

#[tokio::test]
async fn a_head_that_does_not_end_is_not_waited_for() {
    let (address, _stop) = server(bounds()).await;
    for start in ["", "POST", HEAD] {
        let answer = rest(send(address, start).await).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{start:?} {answer}");
    }
    // The next request of a connection has as long.
    let answered = rest(send(address, &WHOLE.replace("connection: close\r\n", "")).await).await;
    assert!(answered.starts_with("HTTP/1.1 200"), "{answered}");
    // Nor one that comes as slowly as can be: its time is for the whole.
    let mut socket = send(address, HEAD).await;
    let started = Instant::now();
    while started.elapsed() < LONGEST && socket.write_all(b"a: b\r\n").await.is_ok() {
        sleep(SHORT / 8).await;
    }
    assert!(started.elapsed() < LONGEST);
}

#[tokio::test]
async fn a_body_that_stops_or_trickles_is_given_up() {
    let (address, _stop) = server(bounds()).await;
    let head = format!("{HEAD}content-length: 1000000\r\n\r\n");
    let answer = rest(send(address, &format!("{head}only this")).await).await;
    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("body_too_slow"), "{answer}");
    let (mut reader, mut writer) = send(address, &head).await.into_split();
    let trickle = tokio::spawn(async move {
        while writer.write_all(b"x").await.is_ok() {
            sleep(SHORT / 8).await;
        }
    });
    let mut answer = [0; 12];
    timeout(LONGEST, reader.read_exact(&mut answer)).await.expect("an answer").unwrap();
    assert_eq!(&answer, b"HTTP/1.1 408");
    drop(reader);
    timeout(LONGEST, trickle).await.expect("the server closes").unwrap();
}

#[tokio::test]
async fn an_honest_request_is_answered_beside_them() {
    let (address, _stop) = server(bounds()).await;
    let _slow = send(address, HEAD).await;
    let answer = rest(send(address, WHOLE).await).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with('5'), "{answer}");
}

#[tokio::test]
async fn connections_past_the_bound_are_told_so_and_the_next_one_fits_again() {
    let (address, _stop) = server(Bounds { head: LONGEST, ..bounds() }).await;
    let mut held = Vec::new();
    for _ in 0..4 {
        held.push(send(address, HEAD).await);
    }
    // Accepted in the order they came, so all four are held by now.
    let answer = rest(send(address, WHOLE).await).await;
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("too_many_connections"), "{answer}");
    held.pop();
    let fits = async {
        while !rest(send(address, WHOLE).await).await.starts_with("HTTP/1.1 200") {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(LONGEST, fits).await.expect("there is room again");
}

#[tokio::test]
async fn a_long_answer_is_not_cut() {
    let (address, _stop) = server(bounds()).await;
    let request = "GET /long HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    let answer = rest(send(address, request).await).await;
    assert_eq!(answer.matches("piece ").count(), 12, "{answer}");
}

#[tokio::test]
async fn an_answer_that_nobody_reads_ends() {
    let (address, _stop) = server(Bounds { connections: 1, ..bounds() }).await;
    let _unread = send(address, "GET /flood HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    let fits = async {
        while !rest(send(address, WHOLE).await).await.starts_with("HTTP/1.1 200") {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(LONGEST, fits).await.expect("its connection is free again");
}

#[tokio::test]
async fn the_end_waits_for_answers_under_way_and_for_nobody_else() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
    let patient = Bounds { head: LONGEST, ..bounds() };
    let serving = tokio::spawn(serve_within(patient, listener, None, doors(), stop.clone()));
    let mut long = send(address, "GET /long HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    let mut first = [0; 12];
    long.read_exact(&mut first).await.unwrap();
    let idle = TcpStream::connect(address).await.unwrap();
    stop.cancel();
    assert_eq!(rest(long).await.matches("piece ").count(), 12);
    timeout(SHORT * 20, serving).await.expect("nothing else is waited for").unwrap().unwrap();
    drop(idle);
}
