//! Headers of a connection stay behind; hosts are read in one way only.

use http::{HeaderMap, Request, header};

use super::{host, remove_own, split, upgrade};

#[test]
fn what_belongs_to_the_connection_is_taken_out() {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("connection", "keep-alive, X-Mine"),
        ("x-mine", "1"),
        ("keep-alive", "5"),
        ("proxy-authorization", "Basic x"),
        ("proxy-connection", "keep-alive"),
        ("te", "trailers"),
        ("x-other", "2"),
    ] {
        headers.append(name, value.parse().unwrap());
    }
    remove_own(&mut headers);
    assert_eq!(headers.keys().map(header::HeaderName::as_str).collect::<Vec<_>>(), ["x-other"]);
}

#[test]
fn hosts_are_split_from_ports() {
    assert_eq!(split("example.org"), Some(("example.org", None)));
    assert_eq!(split("example.org:8080"), Some(("example.org", Some(8080))));
    assert_eq!(split("[::1]:80"), Some(("[::1]", Some(80))));
    assert_eq!(split("[::1]"), Some(("[::1]", None)));
    for wrong in
        ["example.org:", "example.org:0", "example.org:99999", "example.org:+80", "a:b:80", "[::1", "[::1]x"]
    {
        assert_eq!(split(wrong), None, "{wrong}");
    }
    // Not a port: the host is then no name either.
    assert_eq!(split("user@example.org:80"), Some(("user@example.org", Some(80))));
}

#[test]
fn two_hosts_are_an_error() {
    let request = |hosts: &[&str]| {
        let mut request = Request::new(());
        for host in hosts {
            request.headers_mut().append(header::HOST, host.parse().unwrap());
        }
        request
    };
    assert_eq!(host(&request(&[])), Ok(None));
    assert_eq!(host(&request(&["a"])), Ok(Some("a")));
    assert_eq!(host(&request(&["a", "a"])), Err(()));
}

#[test]
fn a_change_of_protocol_is_asked_for_in_two_headers() {
    let mut request = Request::new(());
    request.headers_mut().insert("upgrade", "websocket".parse().unwrap());
    assert_eq!(upgrade(&request), None);
    request.headers_mut().insert("connection", "keep-alive, Upgrade".parse().unwrap());
    assert_eq!(upgrade(&request).unwrap(), "websocket");
}
