//! What a connection speaks is seen in its first bytes, and they are not lost.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{PATIENCE, Replayed, Speaks};

#[tokio::test]
async fn what_was_looked_at_is_still_read() {
    let (mut outside, inside) = tokio::io::duplex(64);
    let mut stream = Replayed::new(b"GE".to_vec(), inside);
    outside.write_all(b"T / HTTP/1.1\r\n").await.unwrap();
    drop(outside);
    assert_eq!(stream.look(PATIENCE).await.unwrap(), Speaks::Http);
    let mut all = String::new();
    stream.read_to_string(&mut all).await.unwrap();
    assert_eq!(all, "GET / HTTP/1.1\r\n");
}

#[tokio::test]
async fn silence_is_something_else() {
    let (outside, inside) = tokio::io::duplex(64);
    drop(outside);
    assert_eq!(Replayed::new(Vec::new(), inside).look(PATIENCE).await.unwrap(), Speaks::Other);
}

#[tokio::test(start_paused = true)]
async fn what_comes_after_a_long_pause_is_looked_at_too() {
    let (mut outside, inside) = tokio::io::duplex(64);
    let looking =
        tokio::spawn(async move { Replayed::new(Vec::new(), inside).look(PATIENCE).await.unwrap() });
    tokio::time::sleep(Duration::from_secs(3600)).await;
    outside.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
    assert_eq!(looking.await.unwrap(), Speaks::Http);
}

/// A protocol may begin with a word and wait for an answer to it.
#[tokio::test(start_paused = true)]
async fn the_beginning_of_a_request_that_pauses_is_unclear() {
    const PAUSE: Duration = Duration::from_millis(250);
    for (head, pause, found) in [
        (&b"GE"[..], PAUSE, Speaks::Unclear),
        (b"GET / HTTP/1.1", PATIENCE, Speaks::Unclear),
        (b"hello", PAUSE, Speaks::Unclear),
        (b"\0", PAUSE, Speaks::Unclear),
        (b"\0\n", PAUSE, Speaks::Other),
    ] {
        let (mut outside, inside) = tokio::io::duplex(64);
        outside.write_all(head).await.unwrap();
        assert_eq!(Replayed::new(Vec::new(), inside).look(pause).await.unwrap(), found);
    }
    let (mut outside, inside) = tokio::io::duplex(64);
    outside.write_all(b"\x16\x03").await.unwrap();
    let hello = Replayed::new(Vec::new(), inside).look(PAUSE).await;
    assert_eq!(hello.unwrap_err().kind(), std::io::ErrorKind::TimedOut);
}

/// Some servers take the end of a connection for the end of a line.
#[tokio::test]
async fn a_request_that_ends_without_a_line_is_an_error() {
    const PAUSE: Duration = Duration::from_secs(5);
    for (head, found) in [
        (&b"GET http://other/ HTTP/1.1"[..], None),
        (b"OPTIONS * RTSP/1.0", None),
        (b"PROXY TCP4", None),
        (b"HELLO", Some(Speaks::Other)),
    ] {
        let (mut outside, inside) = tokio::io::duplex(64);
        outside.write_all(head).await.unwrap();
        drop(outside);
        assert_eq!(Replayed::new(Vec::new(), inside).look(PAUSE).await.ok(), found);
    }
}

/// Servers read lines of any length; so does whoever looks at what passes.
#[tokio::test]
async fn a_line_that_is_long_is_unclear_where_anything_may_pass() {
    for (pause, found) in [(Duration::from_secs(5), Some(Speaks::Unclear)), (PATIENCE, None)] {
        let (mut outside, inside) = tokio::io::duplex(1 << 20);
        outside.write_all(&[&b"GET /"[..], &[b'a'; 50 << 10]].concat()).await.unwrap();
        assert_eq!(Replayed::new(Vec::new(), inside).look(pause).await.ok(), found);
    }
}
