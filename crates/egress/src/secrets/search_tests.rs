//! A value is found whatever it overlaps, at a cost that is bounded whatever it is.

use super::{Search, Seen};

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
fn a_value_is_seen_when_it_is_whole() {
    assert!(!search().is_in(b"an othe"));
    assert!(search().is_in(b"another one"));
}

/// Nothing is kept of what lies too far back, and each byte is compared with whole values by their hashes alone.
#[test]
fn a_value_that_nearly_is_everywhere_costs_no_more() {
    let mut value = vec![b'a'; 2 << 10];
    value[0] = b'b';
    let search = Search::new([(value, b"x".to_vec()), (b"aaaaaaaaaaaaaaab".to_vec(), b"y".to_vec())]);
    let mut seen = Seen::default();
    for _ in 0..1 << 20 {
        assert_eq!(seen.push(&search, b'a'), None);
    }
    assert!(seen.hashes.len() <= (2 << 10) + 1);
}

#[test]
fn nothing_of_it_is_in_a_text() {
    assert_eq!(format!("{:?}", search()), "Search");
}
