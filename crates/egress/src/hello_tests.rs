//! The name is found in hellos as real clients send them, in one piece or many; nothing broken is taken for one.

use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use super::{Hello, read_hello};

fn hello(name: &str, with_name: bool) -> Vec<u8> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    config.enable_sni = with_name;
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let mut client = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut out = Vec::new();
    client.write_tls(&mut out).unwrap();
    out
}

#[test]
fn a_real_hello_names_its_host() {
    assert_eq!(read_hello(&hello("a.example.org", true)), Hello::Tls(Some("a.example.org".to_owned())));
    assert_eq!(read_hello(&hello("a.example.org", false)), Hello::Tls(None));
    assert_eq!(read_hello(&hello("192.0.2.1", true)), Hello::Tls(None), "addresses are not named");
}

#[test]
fn every_beginning_asks_for_more() {
    let whole = hello("a.example.org", true);
    for cut in 0..whole.len() {
        assert_eq!(read_hello(&whole[..cut]), Hello::More, "{cut}");
    }
}

#[test]
fn a_hello_spread_over_records_is_read() {
    let whole = hello("a.example.org", true);
    let mut spread = Vec::new();
    for part in whole[5..].chunks(7) {
        spread.extend([22, 3, 1, 0, u8::try_from(part.len()).unwrap()]);
        spread.extend(part);
    }
    assert_eq!(read_hello(&spread), Hello::Tls(Some("a.example.org".to_owned())));
}

#[test]
fn what_is_broken_is_said_to_be() {
    let whole = hello("a.example.org", true);
    // Another message; a record of another kind, of no length, of more than a record may have; too long a hello.
    for (at, value) in [(5, 2), (1, 4), (6, 0xff)] {
        let mut other = whole.clone();
        other[at] = value;
        assert!(matches!(read_hello(&other), Hello::Broken | Hello::Other), "byte {at}");
    }
    assert_eq!(read_hello(&[22, 3, 1, 0, 0, 1]), Hello::Broken);
    assert_eq!(read_hello(&[22, 3, 1, 0xff, 0xff, 1]), Hello::Broken);
    assert_eq!(read_hello(b"GET / HTTP/1.1\r\n"), Hello::Other);
    assert_eq!(read_hello(b"SSH-2.0-x\r\n"), Hello::Other);
}

#[test]
fn two_names_are_none() {
    let whole = hello("a.example.org", true);
    let name = whole.windows(13).position(|part| part == b"a.example.org").unwrap();
    // The extension: its kind, its length, the list's, the entry's kind and length, the name.
    let extension = whole[name - 9..name + 13].to_vec();
    let mut twice = whole.clone();
    twice.splice(name + 13..name + 13, extension.iter().copied());
    let more = extension.len();
    let add = |bytes: &mut [u8], at: usize| {
        let old = u16::from_be_bytes([bytes[at], bytes[at + 1]]) + u16::try_from(more).unwrap();
        bytes[at..at + 2].copy_from_slice(&old.to_be_bytes());
    };
    // The lengths of the record, the message and the extensions; the last is found from the fixed parts before it.
    add(&mut twice, 3);
    add(&mut twice, 7);
    let session = usize::from(whole[43]);
    let suites = 44 + session;
    let suites_length = usize::from(u16::from_be_bytes([whole[suites], whole[suites + 1]]));
    add(&mut twice, suites + 2 + suites_length + 2);
    assert_eq!(read_hello(&twice), Hello::Broken);
}

/// Go's servers take each of these, pass over the warning, and read the name in what follows.
#[test]
fn a_hello_that_only_forgiving_servers_read_is_broken() {
    let whole = hello("other.example.org", true);
    for version in [[2, 1], [0, 0], [15, 255], [4, 3]] {
        let mut other = whole.clone();
        other[1..3].copy_from_slice(&version);
        assert_eq!(read_hello(&other), Hello::Broken, "{version:?}");
        for cut in 1..6 {
            assert_eq!(read_hello(&other[..cut]), Hello::More, "{version:?}, {cut}");
        }
    }
    for version in [[3, 1], [0, 0], [2, 1]] {
        let warning = [&[21], &version[..], &[0, 2, 1, 90], &whole].concat();
        assert_eq!(read_hello(&warning), Hello::Broken, "{version:?}");
        assert_eq!(read_hello(&warning[..1]), Hello::More, "{version:?}");
    }
    for kind in [20, 23, 24] {
        assert_eq!(read_hello(&[kind, 3, 3, 0, 1, 1]), Hello::Broken, "{kind}");
    }
}

/// A length in front of a message may be the same number as a kind of record.
#[test]
fn other_protocols_with_such_a_length_are_not_taken_for_it() {
    for bytes in [
        &[0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f][..],          // Postgres
        &[22, 1, 0, 1, 0x85, 0xa6, 0xff, 0x19],          // MySQL, a login of 278 bytes
        &[21, 1, 0, 1, 0x85, 0xa6, 0xff, 0x19],          // and of 277
        &[22, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0xdd, 7], // MongoDB
        &[22, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xdd, 7],
        &[21, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0xdd, 7],
        &[20, 1, 0, 1, 0x85, 0xa6],
        &[22, 16, 0, 0, 5, 1],
    ] {
        assert_eq!(read_hello(bytes), Hello::Other, "{bytes:?}");
    }
}
