//! What passes is looked at until it is clear, however long that takes, and what is held of it stays small.

use std::io::ErrorKind;

use super::{LONGEST, MOST_SEEN, Watch};

/// The kind of the error that ends it, in pieces of this size, and with an end behind.
fn passed(bytes: &[u8], size: usize) -> Result<(), ErrorKind> {
    let mut watch = Watch::for_requests(Vec::new());
    for piece in bytes.chunks(size) {
        watch.check(piece).map_err(|error| error.kind())?;
        if let Watch::ForRequests(line) = &watch {
            assert!(line.seen.len() <= MOST_SEEN, "{}", line.seen.len());
        }
    }
    watch.end().map_err(|error| error.kind())
}

#[test]
fn a_long_line_is_a_request_by_its_end() {
    let long = [b'a'; 100_000];
    for (before, behind) in [
        (&b"GET /"[..], &b" HTTP/1.1\n"[..]),
        (b"GET /", b" HTTP/1.1"),
        (b"GET http://other/", b"\n"),
        (b"x HTTP/1.1", b"\n"),
        (b"\0(x /", b" HTTP/1.1\r\n"),
        (b"\0(x /", b" RTSP/1.0"),
    ] {
        for size in [1, 7, 1000, 1 << 20] {
            let line = [before, &long, behind].concat();
            let shown = String::from_utf8_lossy(before);
            assert_eq!(passed(&line, size), Err(ErrorKind::PermissionDenied), "{shown}, {size}");
        }
    }
    let blanks = [&[b'\n'; 10_000][..], b"GET / HTTP/1.1\n"].concat();
    assert_eq!(passed(&blanks, 100), Err(ErrorKind::PermissionDenied));
}

#[test]
fn other_protocols_pass_however_long_their_lines_are() {
    let zeros = [0; 100_000];
    assert_eq!(passed(&zeros, 1000), Ok(()));
    let words = b"\x92 of HTTP/1.1 and more ".repeat(1000);
    for size in [1, 7, 1000] {
        assert_eq!(passed(&words, size), Ok(()));
    }
    assert_eq!(passed(b"hello world", 3), Ok(()));
}

#[test]
fn what_a_proxy_puts_in_front_does_not_pass() {
    for head in [&b"PROXY TCP4 1.2.3.4 1.2.3.4 1 2\r\n"[..], b"\r\n\r\n\0\r\nQUIT\n\x21\x11"] {
        assert_eq!(passed(head, 1), Err(ErrorKind::PermissionDenied));
    }
}

#[test]
fn a_line_that_no_server_takes_is_looked_at_no_more() {
    let mut watch = Watch::for_requests(Vec::new());
    for _ in 0..=LONGEST >> 16 {
        assert!(matches!(watch, Watch::ForRequests(_)));
        watch.check(&[0; 1 << 16]).unwrap();
    }
    assert!(matches!(watch, Watch::No));
    // Empty lines before one do not make it longer.
    let mut watch = Watch::for_requests(Vec::new());
    for _ in 0..=LONGEST >> 16 {
        watch.check(&[b'\n'; 1 << 16]).unwrap();
    }
    assert_eq!(watch.check(b"GET / HTTP/1.1\n").unwrap_err().kind(), ErrorKind::PermissionDenied);
}
