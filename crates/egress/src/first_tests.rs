//! What a connection speaks is seen in its first bytes, and they are not lost.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{Replayed, Speaks, looks_like_http};

#[test]
fn requests_are_known_by_their_first_line() {
    for (head, found) in [
        (&b"GET / HTTP/1.1"[..], Some(true)),
        (b"OPTIONS * HTTP/1.1", Some(true)),
        (b"GE", None),
        (b"GET ", None),
        (b"PRI * HTTP/2.0", Some(false)),
        (b"PRI *", None),
        (b"SSH-2.0", Some(false)),
        (b"get /", Some(false)),
        (b"A /", Some(false)),
        (b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", Some(false)),
        (b"GET \x00", Some(false)),
    ] {
        assert_eq!(looks_like_http(head), found, "{}", String::from_utf8_lossy(head));
    }
}

#[tokio::test]
async fn what_was_looked_at_is_still_read() {
    let (mut outside, inside) = tokio::io::duplex(64);
    let mut stream = Replayed::new(b"GE".to_vec(), inside);
    outside.write_all(b"T / HTTP/1.1").await.unwrap();
    drop(outside);
    assert_eq!(stream.look().await.unwrap(), Speaks::Http);
    let mut all = String::new();
    stream.read_to_string(&mut all).await.unwrap();
    assert_eq!(all, "GET / HTTP/1.1");
}

#[tokio::test]
async fn silence_is_something_else() {
    let (outside, inside) = tokio::io::duplex(64);
    drop(outside);
    assert_eq!(Replayed::new(Vec::new(), inside).look().await.unwrap(), Speaks::Other);
}
