//! What a connection speaks is seen in its first bytes, and they are not lost.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{Replayed, Speaks, looks_like_http};

#[test]
fn requests_are_known_by_their_first_line() {
    for (head, found) in [
        (&b"GET / HTTP/1.1\r\n"[..], Some(true)),
        (b"OPTIONS * HTTP/1.1\n", Some(true)),
        (b"PROPFIND / HTTP/1.1\r\n", Some(true)),
        (b"M-SEARCH * HTTP/1.1\r\n", Some(true)),
        (b"GE", None),
        (b"GET ", None),
        (b"GET / HTTP/1.1", None),
        (b"GET /\r\n", Some(true)),
        // What servers forgive is no way to be taken for something else.
        (b"\r\n\r\n", None),
        (b"\r\nGET / HTTP/1.1\r\n", Some(true)),
        (b"\n\nGET / HTTP/1.1\r\n", Some(true)),
        (b"GET\t/ HTTP/1.1\r\n", Some(true)),
        (b"GET  / HTTP/1.1\r\n", Some(true)),
        (b"get / http/1.1\r\n", Some(true)),
        (b"Post / HTTP/1.1\r\n", Some(true)),
        (b"ge", None),
        // Other protocols.
        (b"PRI * HTTP/2.0\r\n", Some(false)),
        (b"PRI *", None),
        (b"SSH-2.0", Some(false)),
        (b"get some-key\r\n", Some(false)),
        (b"NICK somebody\r\n", Some(false)),
        (b"*1\r\n$4\r\nPING\r\n", Some(false)),
        (b"hello", Some(false)),
        (b"A /", Some(false)),
        (b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", Some(false)),
    ] {
        assert_eq!(looks_like_http(head), found, "{}", String::from_utf8_lossy(head));
    }
}

#[tokio::test]
async fn what_was_looked_at_is_still_read() {
    let (mut outside, inside) = tokio::io::duplex(64);
    let mut stream = Replayed::new(b"GE".to_vec(), inside);
    outside.write_all(b"T / HTTP/1.1\r\n").await.unwrap();
    drop(outside);
    assert_eq!(stream.look().await.unwrap(), Speaks::Http);
    let mut all = String::new();
    stream.read_to_string(&mut all).await.unwrap();
    assert_eq!(all, "GET / HTTP/1.1\r\n");
}

#[tokio::test]
async fn silence_is_something_else() {
    let (outside, inside) = tokio::io::duplex(64);
    drop(outside);
    assert_eq!(Replayed::new(Vec::new(), inside).look().await.unwrap(), Speaks::Other);
}

#[tokio::test(start_paused = true)]
async fn what_comes_after_a_long_pause_is_looked_at_too() {
    let (mut outside, inside) = tokio::io::duplex(64);
    let looking = tokio::spawn(async move { Replayed::new(Vec::new(), inside).look().await.unwrap() });
    tokio::time::sleep(std::time::Duration::from_secs(3600)).await;
    outside.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
    assert_eq!(looking.await.unwrap(), Speaks::Http);
}
