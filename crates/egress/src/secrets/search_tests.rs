//! A value is found wherever it is cut and whatever it overlaps, at the same cost.

use super::{Passing, Search};

fn search() -> Search {
    let pair = |value: &str, stands: &str| (value.as_bytes().to_vec(), stands.as_bytes().to_vec());
    Search::new([pair("s3cret", "placeholder"), pair("other", "o"), pair("s3", "short"), pair("", "none")])
}

#[test]
fn values_become_what_stands_for_them() {
    for (text, clean) in [
        ("a s3cret b s3crets3cret other.", "a placeholder b placeholderplaceholder o."),
        ("s3cre", "shortcre"),
        ("s3s3cret", "shortplaceholder"),
        ("", ""),
        ("nothing", "nothing"),
    ] {
        assert_eq!(String::from_utf8(search().replaced(text.as_bytes())).unwrap(), clean);
    }
    let overlapping = Search::new([(b"abcd".to_vec(), b"1".to_vec()), (b"cdef".to_vec(), b"2".to_vec())]);
    assert_eq!(overlapping.replaced(b"xabcdefx"), b"x1x", "no part of either is left");
    let inside = Search::new([(b"b".to_vec(), b"1".to_vec()), (b"abc".to_vec(), b"2".to_vec())]);
    assert_eq!(inside.replaced(b"abc b"), b"2 1");
}

#[test]
fn pieces_make_no_difference() {
    let (search, text) = (search(), b"xs3s3cret othe other s3cre");
    for size in 1..text.len() {
        let (mut passing, mut out) = (Passing::default(), Vec::new());
        for piece in text.chunks(size) {
            passing.push(&search, piece, &mut out);
        }
        passing.finish(&search, &mut out);
        assert_eq!(out, search.replaced(text), "{size}");
    }
}

#[test]
fn what_can_be_no_value_is_not_held_back() {
    let (search, mut passing, mut out) = (search(), Passing::default(), Vec::new());
    passing.push(&search, b"data: event\n\n", &mut out);
    assert_eq!(out, b"data: event\n\n");
    passing.push(&search, b"oth", &mut out);
    assert_eq!(out.len(), 13, "it may be the beginning of a value");
    passing.push(&search, b"!", &mut out);
    assert!(out.ends_with(b"oth!"));
}

/// Once the square of the value's length for each byte.
#[test]
fn a_value_that_nearly_is_everywhere_costs_no_more() {
    let mut value = vec![b'a'; 16 << 10];
    let text = vec![b'a'; 4 << 20];
    value.push(b'b');
    let search = Search::new([(value, b"x".to_vec()), (b"aaa".to_vec(), b"y".to_vec())]);
    let (mut passing, mut out) = (Passing::default(), Vec::new());
    for piece in text.chunks(8 << 10) {
        passing.push(&search, piece, &mut out);
        assert!(passing.runs.len() <= 1 && passing.held.len() <= 24 << 10);
    }
    passing.finish(&search, &mut out);
    assert_eq!(out, b"y");
}

#[test]
fn a_value_is_seen_when_it_is_whole() {
    let (search, mut passing) = (search(), Passing::default());
    assert!(!passing.has_seen(&search, b"an oth"));
    assert!(passing.has_seen(&search, b"er one"));
}
