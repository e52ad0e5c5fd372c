//! What the egress reads before it trusts anything: names in questions and answers of DNS, the first message of TLS,
//! and SOCKS, against anything a program inside, or a name server outside, could send.
//!
//! The first byte says which reader; the rest is what it gets.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sandgate_core::network::{Cidr, HostName, HostPattern, Target, parse_address};
use sandgate_egress::parsers::{
    Hello, Read, parse_answer, parse_question, read_greeting, read_hello, read_request, split,
};

fuzz_target!(|input: &[u8]| {
    let Some((&reader, sent)) = input.split_first() else { return };
    match reader % 5 {
        0 => question(sent),
        1 => answer(sent),
        2 => hello(sent),
        3 => socks(sent),
        _ => text(sent),
    }
});

fn question(sent: &[u8]) {
    let Some(question) = parse_question(sent) else { return };
    assert!(question.name.len() <= 255 && question.name.bytes().all(|byte| byte.is_ascii_graphic()));
    // What could be a host is one in its own spelling, and no other.
    if let Ok(name) = question.name.parse::<HostName>() {
        assert!(name.as_str().eq_ignore_ascii_case(question.name.trim_end_matches('.')));
    }
}

fn answer(sent: &[u8]) {
    let Some((&length, rest)) = sent.split_first() else { return };
    let (question, answer) = rest.split_at(usize::from(length).min(rest.len()));
    if let Some((_, code, addresses)) = parse_answer(answer, question) {
        assert!(code < 16 && addresses.len() <= 64);
    }
}

/// However it is cut, a hello says the same: no beginning of it names another host.
fn hello(sent: &[u8]) {
    let whole = read_hello(sent);
    for cut in 0..sent.len().min(64) {
        let part = read_hello(&sent[..cut]);
        assert!(part == Hello::More || part == whole || whole == Hello::More, "{part:?} became {whole:?}");
    }
    if let Hello::Tls(Some(name)) = whole {
        assert!(!name.is_empty() && name.is_ascii());
    }
}

fn socks(sent: &[u8]) {
    if let Read::Whole(_, length) = read_greeting(sent) {
        assert!(length <= sent.len());
    }
    let Read::Whole(request, length) = read_request(sent) else { return };
    assert!(length <= sent.len() && request.host.len() <= 255);
    assert_eq!(read_request(&sent[..length - 1]), Read::More);
}

/// What is read as a rule is written as one, and means the same.
fn text(sent: &[u8]) {
    let Ok(text) = std::str::from_utf8(sent) else { return };
    if let Ok(target) = text.parse::<Target>() {
        assert_eq!(target.to_string().parse::<Target>().as_ref(), Ok(&target));
        assert!(target.covers(&target));
    }
    if let Ok(range) = text.parse::<Cidr>() {
        assert_eq!(range.to_string().parse::<Cidr>(), Ok(range));
    }
    if let Ok(name) = text.parse::<HostName>() {
        assert!(parse_address(text).is_none(), "an address is no name");
        assert_eq!(name.as_str().parse::<HostName>().as_ref(), Ok(&name));
    }
    if let Some((host, port)) = split(text) {
        assert!(text.starts_with(host) && port != Some(0) && (port.is_some() || host == text));
    }
    if let Ok(pattern) = text.parse::<HostPattern>() {
        assert_eq!(pattern.to_string().parse::<HostPattern>().as_ref(), Ok(&pattern));
    }
}
