//! Messages come through whole, until one holds a value; until then nothing tells of it.

use super::super::search::{LONGEST_FORM, Search};
use super::Frames;

const VALUE: &[u8] = b"s3cret-value";

fn search(value: &[u8]) -> Search {
    Search::new([(value.to_vec(), Vec::new())])
}

fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first];
    match payload.len() {
        short @ 0..126 => frame.push(u8::try_from(short).unwrap()),
        long => {
            frame.push(127);
            frame.extend((long as u64).to_be_bytes());
        }
    }
    frame.extend(payload);
    frame
}

/// What comes out for each piece, and whether it went on to the end.
fn pieces(search: &Search, text: &[u8], size: usize) -> (Vec<Vec<u8>>, bool) {
    let (mut frames, mut all) = (Frames::default(), Vec::new());
    for piece in text.chunks(size) {
        let mut out = Vec::new();
        if frames.push(search, piece, &mut out).is_err() {
            return (all, false);
        }
        all.push(out);
    }
    (all, true)
}

/// The rest may come when somebody has answered.
#[test]
fn a_whole_message_is_not_held_back() {
    for text in [&b"s3cret-valu"[..], b"", b"yes", &[b'x'; 300]] {
        let sent = frame(0x81, text);
        let (came, is_whole) = pieces(&search(VALUE), &sent, sent.len());
        assert!(is_whole && came.concat() == sent, "{text:?}");
    }
}

#[test]
fn no_byte_of_a_value_comes_through() {
    let hello = frame(0x81, b"hello");
    let masked = [
        &[0x81, 0x80 | 12, 1, 2, 3, 4][..],
        &[
            b's' ^ 1,
            b'3' ^ 2,
            b'c' ^ 3,
            b'r' ^ 4,
            b'e' ^ 1,
            b't' ^ 2,
            b'-' ^ 3,
            b'v' ^ 4,
            b'a' ^ 1,
            b'l' ^ 2,
            b'u' ^ 3,
            b'e' ^ 4,
        ],
    ]
    .concat();
    for told in [
        frame(0x82, VALUE),
        frame(0x81, b"a line\nand s3cret-value"),
        // In two frames, with one about the connection between them.
        [frame(0x01, b"s3cret"), frame(0x89, b"ping"), frame(0x80, b"-value")].concat(),
        frame(0x88, b"\x03\xe8s3cret-value"),
        frame(0x8a, VALUE),
        masked,
    ] {
        for size in [1, 2, 3, 7, 1000] {
            let sent = [hello.clone(), told.clone()].concat();
            let (came, is_whole) = pieces(&search(VALUE), &sent, size);
            let came = came.concat();
            assert!(!is_whole && sent.starts_with(&came), "{size}: {came:?}");
            let letters = came.len().saturating_sub(hello.len());
            assert!(!told[..letters].windows(2).any(|two| two == b"s3"), "{size}: {came:?}");
        }
    }
}

#[test]
fn what_comes_through_is_the_same_whatever_the_value_is() {
    let long = [b"x".repeat(LONGEST_FORM), b"s3cret-valu".to_vec(), b"x".repeat(LONGEST_FORM)].concat();
    let sent = [
        frame(0x81, b"s3cret-valu"),
        frame(0x01, b"s3cret"),
        frame(0x89, b"s3cret-"),
        frame(0x00, b"-valu"),
        frame(0x00, b""),
        frame(0x80, b"!"),
        frame(0x02, &long),
        frame(0x80, &long),
        frame(0x01, b"s3cre"),
    ]
    .concat();
    for size in [1, 5, 100, 4096, sent.len()] {
        let one = pieces(&search(VALUE), &sent, size);
        assert_eq!(one, pieces(&search(b"x is another"), &sent, size), "{size}");
        let came: usize = one.0.iter().map(Vec::len).sum();
        assert!(one.1 && came == sent.len() - 7, "only what is no whole message is held: {came}");
    }
}

#[test]
fn a_long_message_flows() {
    let sent = [frame(0x01, &vec![b'x'; 5000]), frame(0x00, &vec![b'y'; 40_000])].concat();
    let (came, is_whole) = pieces(&search(VALUE), &sent, 1000);
    assert!(is_whole);
    assert_eq!(came.concat().len(), sent.len() - (LONGEST_FORM - 1));
}

#[test]
fn what_cannot_be_searched_ends() {
    assert!(!pieces(&search(VALUE), &frame(0xc1, b"compressed"), 100).1);
    assert!(!pieces(&search(VALUE), &frame(0x89, &[b'x'; 126]), 200).1);
    let small = [frame(0x01, b"x"), frame(0x89, b"").repeat(1 << 20)].concat();
    assert!(!pieces(&search(VALUE), &small, 4096).1, "held without end");
}

#[test]
fn without_secrets_it_need_not_be_a_websocket() {
    let (came, is_whole) = pieces(&Search::new([]), b"\xffanything", 3);
    assert!(is_whole && came.concat() == b"\xffanything");
}
