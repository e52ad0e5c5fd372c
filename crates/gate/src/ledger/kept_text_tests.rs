//! Long texts keep their two ends, within a bound, and never break a character.

use super::{KEPT, KeptText};

fn kept(pieces: impl IntoIterator<Item = String>) -> (u64, String) {
    let mut text = KeptText::new(true);
    pieces.into_iter().for_each(|piece| text.add(&piece));
    let bytes = text.bytes();
    (bytes, text.into_value().unwrap().as_str().unwrap().to_owned())
}

#[test]
fn what_fits_is_whole_however_it_comes() {
    let whole = "äb".repeat(KEPT / 3);
    assert!(whole.len() > KEPT / 2);
    assert_eq!(kept([whole.clone()]), (whole.len() as u64, whole.clone()));
    assert_eq!(kept(whole.chars().map(String::from)), (whole.len() as u64, whole.clone()));
    let twice = format!("{whole}{whole}");
    assert_eq!(kept([whole.clone(), whole]), (twice.len() as u64, twice));
}

#[test]
fn of_more_the_beginning_and_the_end_are_kept_and_the_rest_is_counted() {
    let middle = "€".repeat(KEPT);
    for pieces in [
        vec![format!("first{middle}{middle}last")],
        vec!["first".to_owned(), middle.clone(), middle, "last".to_owned()],
    ] {
        let sum: usize = pieces.iter().map(String::len).sum();
        let (bytes, text) = kept(pieces);
        assert_eq!(bytes, sum as u64);
        assert!(text.starts_with("first€") && text.ends_with("€last"), "{}", text.len());
        let (head, rest) = text.split_once("\n[… ").unwrap();
        let (number, tail) = rest.split_once(" bytes left out …]\n").unwrap();
        assert_eq!(head.len() + tail.len() + number.parse::<usize>().unwrap(), sum);
        assert!(head.len() <= KEPT && tail.len() <= KEPT);
    }
}

#[test]
fn what_may_not_be_kept_is_only_counted() {
    let mut text = KeptText::new(false);
    text.add("secret");
    text.count(10);
    assert_eq!(text.bytes(), 16);
    assert!(!format!("{text:?}").contains("secret"));
    assert_eq!(text.into_value(), None);
}
