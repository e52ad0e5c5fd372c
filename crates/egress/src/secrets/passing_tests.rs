//! Values are found however a text is cut, and until one is whole nothing that comes out tells of it.

use proptest::prelude::*;

use super::super::forms::forms;
use super::super::search::{LONGEST_FORM, Search};
use super::Passing;

fn search(values: &[&str]) -> Search {
    let pair = |value: &&str| forms(value).into_iter().map(|form| (form, b"placeholder".to_vec()));
    Search::new(values.iter().flat_map(pair))
}

/// What comes out for each piece, and at the end.
fn pieces(search: &Search, text: &[u8], size: usize) -> Vec<Vec<u8>> {
    let mut passing = Passing::default();
    let piece = |piece: &[u8]| {
        let mut out = Vec::new();
        passing.push(search, piece, &mut out);
        out
    };
    let mut all: Vec<_> = text.chunks(size).map(piece).collect();
    let mut last = Vec::new();
    passing.finish(search, &mut last);
    all.push(last);
    all
}

#[test]
fn pieces_make_no_difference() {
    let search = search(&["s3cret-value", "other/value"]);
    let text = b"xs3cret-s3cret-value other%2Fvalue\nother/valu other/value s3cret-val";
    let clean = b"xs3cret-placeholder placeholder\nother/valu placeholder s3cret-val";
    for size in 1..=text.len() {
        assert_eq!(pieces(&search, text, size).concat(), clean, "{size}");
    }
}

#[test]
fn whole_lines_are_not_held_back_and_no_more_than_a_value_is() {
    let (search, mut passing, mut out) = (search(&["s3cret-value"]), Passing::default(), Vec::new());
    passing.push(&search, b"data: event\n\n", &mut out);
    assert_eq!(out, b"data: event\n\n");
    passing.push(&search, b"nothing of it", &mut out);
    assert_eq!(out.len(), 13, "it may be the beginning of a value, as far as anybody can see");
    passing.push(&search, b"\r\n", &mut out);
    assert!(out.ends_with(b"nothing of it\r\n"));
    out.clear();
    passing.push(&search, &vec![b'x'; 3 * LONGEST_FORM], &mut out);
    assert_eq!(out.len(), 2 * LONGEST_FORM + 1);
}

#[test]
fn without_secrets_nothing_is_held_back() {
    let mut out = Vec::new();
    Passing::default().push(&Search::new([]), b"text", &mut out);
    assert_eq!(out, b"text");
}

/// A text as whoever guesses would have it: pieces of both values among others.
fn text(one: &str, other: &str) -> impl Strategy<Value = Vec<u8>> + use<> {
    let (one, other) = (one.to_owned(), other.to_owned());
    let part = prop_oneof![
        (0..one.len()).prop_map(move |end| one.as_bytes()[..end].to_vec()),
        (0..other.len()).prop_map(move |end| other.as_bytes()[..end].to_vec()),
        "[#a-z \n\u{e9}]{0,12}".prop_map(String::into_bytes),
        (0..2 * LONGEST_FORM).prop_map(|count| vec![b'#'; count]),
    ];
    prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

fn two_values() -> impl Strategy<Value = (String, String, Vec<u8>, usize)> {
    let value = "[ -~]{8,64}|[a-z]{8,2048}";
    let values = (value, value, 1..20_000_usize);
    values.prop_flat_map(|(one, other, size)| {
        let text = text(&one, &other);
        text.prop_map(move |text| (one.clone(), other.clone(), text, size))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Else code inside could have its own guesses sent back and read a value letter by letter.
    #[test]
    fn pieces_are_the_same_whatever_the_values_are((one, other, text, size) in two_values()) {
        let (one, other) = (search(&[&one]), search(&[&other]));
        if !one.is_in(&text) && !other.is_in(&text) {
            let same = pieces(&one, &text, size);
            prop_assert_eq!(&same.concat(), &text);
            prop_assert!(same == pieces(&other, &text, size));
        }
    }
}
