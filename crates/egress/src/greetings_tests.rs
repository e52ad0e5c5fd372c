//! A second hello is read wherever a server would still take it, and no other connection is held up.

use super::{Greetings, Next};

const CHANGE: [u8; 6] = [20, 3, 3, 0, 1, 1];
const WARNING: [u8; 7] = [21, 3, 3, 0, 2, 1, 90];
const DATA: [u8; 9] = [23, 3, 3, 0, 4, 9, 9, 9, 9];

/// A message that names this host, if any, and announces early data if asked.
fn message(name: &str, early: bool) -> Vec<u8> {
    let mut extensions = Vec::new();
    if !name.is_empty() {
        let length = u8::try_from(name.len()).unwrap();
        extensions.extend([0, 0, 0, length + 5, 0, length + 3, 0, 0, length]);
        extensions.extend(name.as_bytes());
    }
    if early {
        extensions.extend([0, 42, 0, 0]);
    }
    let mut hello = vec![3, 3];
    hello.extend([7; 32]);
    hello.extend([0, 0, 2, 0x13, 1, 1, 0]);
    hello.extend(u16::try_from(extensions.len()).unwrap().to_be_bytes());
    hello.extend(extensions);
    let mut message = vec![1, 0, 0, u8::try_from(hello.len()).unwrap()];
    message.extend(hello);
    message
}

fn record(kind: u8, content: &[u8]) -> Vec<u8> {
    let mut record = vec![kind, 3, 3];
    record.extend(u16::try_from(content.len()).unwrap().to_be_bytes());
    record.extend(content);
    record
}

fn hello(name: &str) -> Vec<u8> {
    record(22, &message(name, false))
}

/// In one piece and byte by byte, which must come to the same.
fn read(bytes: &[u8]) -> Result<Next, String> {
    let whole = Greetings::default().read(bytes).map_err(|renamed| renamed.said);
    let mut greetings = Greetings::default();
    let mut pieces = Ok(Next::Look);
    for byte in bytes {
        pieces = greetings.read(&[*byte]).map_err(|renamed| renamed.said);
        if pieces != Ok(Next::Look) {
            break;
        }
    }
    assert_eq!(whole, pieces);
    whole
}

#[test]
fn a_second_hello_names_the_same_host_or_none_gets_through() {
    for between in [&[][..], &CHANGE, &WARNING, &[CHANGE, CHANGE].concat(), &[22, 3, 3, 0, 0]] {
        let with = |name| read(&[hello("a.test"), between.to_vec(), hello(name)].concat());
        assert_eq!(with("a.test"), Ok(Next::Look));
        assert_eq!(with("other.test"), Err("other.test".to_owned()));
        assert_eq!(with(""), Err(String::new()));
    }
    assert_eq!(read(&[hello(""), hello("other.test")].concat()), Err("other.test".to_owned()));
    let third = [hello("a.test"), hello("a.test"), hello("other.test")].concat();
    assert_eq!(read(&third), Err("other.test".to_owned()));
}

#[test]
fn a_second_hello_is_found_however_it_is_cut_into_records() {
    let other = message("other.test", false);
    let in_one = record(22, &[message("a.test", false), other.clone()].concat());
    assert_eq!(read(&in_one), Err("other.test".to_owned()));
    for size in 1..other.len() {
        let mut bytes = [&hello("a.test")[..], &CHANGE].concat();
        for part in other.chunks(size) {
            bytes.extend(record(22, part));
            // Some servers pass over a warning here too.
            bytes.extend(WARNING);
        }
        assert_eq!(read(&bytes), Err("other.test".to_owned()), "{size}");
    }
}

/// Not every server compares the version of later records.
#[test]
fn a_second_hello_of_another_version_is_read_too() {
    let mut other = hello("other.test");
    other[1..3].copy_from_slice(&[9, 9]);
    assert_eq!(read(&[hello("a.test"), other].concat()), Err("other.test".to_owned()));
}

#[test]
fn a_second_hello_behind_early_data_is_read() {
    let early = record(22, &message("a.test", true));
    let data = [DATA, DATA].concat();
    assert_eq!(read(&[early.clone(), data.clone()].concat()), Ok(Next::Look));
    let second = [early, CHANGE.to_vec(), data, hello("other.test")].concat();
    assert_eq!(read(&second), Err("other.test".to_owned()));
}

#[test]
fn the_rest_is_not_looked_at_once_no_hello_can_follow() {
    let first = hello("a.test");
    // Data; the key or the certificate of a client in TLS 1.2; its encrypted end when it comes back.
    for last in [
        DATA.to_vec(),
        record(22, &[16, 0, 0, 1, 9]),
        record(22, &[11, 0, 0, 0]),
        [&CHANGE[..], &record(22, &[0; 40])].concat(),
        [&CHANGE[..], &record(22, &[0x8c; 32])].concat(),
    ] {
        assert_eq!(read(&[first.clone(), last].concat()), Ok(Next::Free));
    }
}

/// An encrypted message may begin with any byte, also with that of a hello.
#[test]
fn an_encrypted_end_that_looks_like_a_hello_holds_nothing_up() {
    for length in [[0, 1, 0], [0, 0x80, 1], [2, 0, 0], [0xff, 0xff, 0xff]] {
        let mut end = [0x8c; 32];
        end[..4].copy_from_slice(&[&[1], &length[..]].concat());
        let end = [&hello("a.test")[..], &CHANGE, &record(22, &end)].concat();
        assert_eq!(read(&end), Ok(Next::Look));
        assert_eq!(read(&[&end[..], &DATA].concat()), Ok(Next::Free), "{length:?}");
    }
}

#[test]
fn what_cannot_be_read_is_no_second_hello() {
    let said = Err("nothing that can be read".to_owned());
    let broken = record(22, &[1, 0, 0, 2, 3, 3]);
    assert_eq!(read(&[hello("a.test"), broken].concat()), said);
    assert_eq!(read(&[hello("a.test"), record(99, b"x")].concat()), said);
    // More than is ever held: it cannot come whole.
    let long = [hello("a.test"), record(22, &[1, 1, 0, 0, 3, 3]), record(22, &[0; 100])].concat();
    assert_eq!(read(&long), said);
}
