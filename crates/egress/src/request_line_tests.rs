//! Requests are known by their first line, however it is written.

use super::{Line, read, read_last};

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
        b"PRI * HTTP/2.0\r\nHost: other\r\n",
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZ / HTTP/1.1\r\n",
        b"(x / HTTP/1.1\r\n",
        b"\0\x01 / HTTP/1.1\r\n",
        b"\0\x01 / http/1.1 \r\n",
        b"\xff\x1c/\x85HTTP/1.0\n",
        b"HEAD /\r\n",
        b"OPTIONS http://other/\r\n",
    ] {
        assert_eq!(read(head), Line::Request, "{}", String::from_utf8_lossy(head));
    }
}

#[test]
fn other_protocols_are_none() {
    for head in [
        &b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..],
        b"SSH-2.0 x\r\n",
        // NATS and SIP begin like the oldest requests.
        b"CONNECT {\"verbose\":false,\"name\":\"a://b\"}\r\nPING\r\n",
        b"OPTIONS sip:a@example.org SIP/2.0\r\n",
        b"POST\r\n",
        b"HELO office/1 service/2\r\n",
        // Not text, with text in it.
        b"\x92\xa3log \xaeGET / HTTP/1.1\xa4code 200\n",
        b"\x16\x01\x08http/1.1\n",
        b"get some-key\r\n",
        b"NICK somebody\r\n",
        b"PING\r\n",
        b"GET\r\n",
        b"*1\r\n$4\r\nPING\r\n",
        b"AMQP\0\0\x09\x01\n",
        b"<stream>\n",
        b"{\"a\": 1}\n",
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
        (b"AMQP\0\0\x09\x01", false),
        (b"\0\0\0\x08\x04\xd2\x16\x2f", false),
        (b"<stream>", false),
        (b"A/", false),
        (b"(x / HTTP/1.1", false),
        (b"ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZ", true),
        (b"PRI * HTTP/2.0\r\n", true),
        (b"\r\n\r\n\0\r\nQUI", true),
    ] {
        assert_eq!(read(head), Line::Unclear { likely }, "{}", String::from_utf8_lossy(head));
    }
}

/// Some servers of HTTP answer these too.
#[test]
fn requests_of_radio_and_cameras_are_known() {
    for head in [
        &b"SOURCE / ICE/1.1\r\n"[..],
        b"DESCRIBE / RTSP/1.0\r\n",
        b"OPTIONS rtsp://a/ RTSP/1.0\r\n",
        b"GET http://other/ ice/1.0\r\n",
        b"(x / RTSP/1.0\r\n",
    ] {
        assert_eq!(read(head), Line::Foreign, "{}", String::from_utf8_lossy(head));
    }
}

/// A server takes them off and reads on.
#[test]
fn what_a_proxy_puts_in_front_is_broken() {
    for head in [&b"PROXY TCP4 1.2.3.4 1.2.3.4 1 2\r\nGET"[..], b"PROXY ", b"\r\n\r\n\0\r\nQUIT\n\x21"] {
        assert_eq!(read(head), Line::Broken, "{}", String::from_utf8_lossy(head));
    }
}

#[test]
fn an_end_ends_a_line() {
    for (head, line) in [
        (&b"GET http://other/ HTTP/1.1"[..], Line::Request),
        (b"GET http://other/", Line::Request),
        (b"(x / HTTP/1.1", Line::Request),
        (b"SOURCE / ICE/1.1", Line::Foreign),
        (b"\r\n\r\n\0\r\nQUIT", Line::Broken),
        (b"hello world", Line::Other),
        (b"GET", Line::Other),
        (b"\0\0\0\x08\x04", Line::Other),
    ] {
        assert_eq!(read_last(head), line, "{}", String::from_utf8_lossy(head));
    }
}
