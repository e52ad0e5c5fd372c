//! Messages of SOCKS5 are read strictly, in pieces too.

use super::{Read, Request, read_greeting, read_request};

#[test]
fn greetings_say_whether_a_password_is_needed() {
    assert_eq!(read_greeting(&[5, 1, 0]), Read::Whole(true, 3));
    assert_eq!(read_greeting(&[5, 2, 1, 2, 9]), Read::Whole(false, 4));
    assert_eq!(read_greeting(&[5, 2, 0]), Read::More);
    assert_eq!(read_greeting(&[4, 1, 0]), Read::Broken);
}

#[test]
fn requests_name_a_host_or_an_address() {
    let request = |host: &str, port| Request { command: 1, host: host.to_owned(), port };
    let mut named = vec![5, 1, 0, 3, 11];
    named.extend(b"example.org");
    named.extend([1, 187]);
    assert_eq!(read_request(&named), Read::Whole(request("example.org", 443), 18));
    assert_eq!(read_request(&[5, 1, 0, 1, 192, 0, 2, 7, 0, 80]), Read::Whole(request("192.0.2.7", 80), 10));
    let mut six = vec![5, 1, 0, 4];
    six.extend([0; 15]);
    six.extend([1, 0, 80]);
    assert_eq!(read_request(&six), Read::Whole(request("::1", 80), 22));
    for cut in 0..named.len() {
        assert_eq!(read_request(&named[..cut]), Read::More, "{cut}");
    }
    for broken in [&[4, 1][..], &[5, 1, 1], &[5, 1, 0, 9, 0], &[5, 1, 0, 3, 1, 0xff, 0, 80]] {
        assert_eq!(read_request(broken), Read::Broken, "{broken:?}");
    }
}
