//! Requests are known by their first line, however it is written.

use super::{Line, read};

#[test]
fn requests_are_known_by_their_first_line() {
    for head in [
        &b"GET / HTTP/1.1\r\n"[..],
        b"OPTIONS * HTTP/1.1\n",
        b"PROPFIND / HTTP/1.1\r\n",
        b"M-SEARCH * HTTP/1.1\r\n",
        b"GET /\r\n",
        // What servers forgive is no way to be taken for something else.
        b"\r\nGET / HTTP/1.1\r\n",
        b"\n\nGET / HTTP/1.1\r\n",
        b" GET / HTTP/1.1\r\n",
        b"GET\t/ HTTP/1.1\r\n",
        b"GET\x0b/ HTTP/1.1\r\n",
        b"GET\xa0/ HTTP/1.1\r\n",
        b"GET\r/ HTTP/1.1\r\n",
        b"GET  / HTTP/1.1\r\n",
        b"GET /\0 HTTP/1.1\r\n",
        b"get / http/1.1\r\n",
        b"Post / HTTP/1.1\r\n",
        b"Propfind / HTTP/1.1\r\n",
        b"search2 / HTTP/1.1\r\n",
        b"a / HTTP/1.1\r\n",
        b"\r\nPRI * HTTP/2.0\r\n",
    ] {
        assert_eq!(read(head), Line::Request, "{}", String::from_utf8_lossy(head));
    }
}

#[test]
fn other_protocols_are_none() {
    for head in [
        &b"PRI * HTTP/2.0\r\n"[..],
        b"SSH-2.0 x\r\n",
        b"get some-key\r\n",
        b"NICK somebody\r\n",
        b"PING\r\n",
        b"GET\r\n",
        b"*1\r\n$4\r\nPING\r\n",
        b"AMQP\0\0\x09\x01",
        b"\0\0\0\x08\x04\xd2\x16\x2f",
        b"<stream>",
        b"{\"a\": 1}",
        b"A/",
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZ",
    ] {
        assert_eq!(read(head), Line::Other, "{}", String::from_utf8_lossy(head));
    }
}

#[test]
fn too_little_is_unclear() {
    for (head, likely) in [
        (&b"GE"[..], true),
        (b"GET ", true),
        (b"GET / HTTP/1.1", true),
        (b"ge", true),
        (b"PRI *", true),
        (b"\r\n\r\n", true),
        (b"Q", true),
        (b"hello", false),
        (b"hello world", false),
        (b"0\x0c\x02\x01\x01", false),
    ] {
        assert_eq!(read(head), Line::Unclear { likely }, "{}", String::from_utf8_lossy(head));
    }
}
