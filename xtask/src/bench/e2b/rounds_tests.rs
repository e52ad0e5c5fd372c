use super::*;
use crate::bench::pairs::{added_series, series};

#[test]
fn what_is_added_is_the_difference_within_a_round() {
    let mut samples = Samples::default();
    let said = r#"{"server": "stub", "times": {"warm": [1, 2, 9]}}
{"server": "sandgate", "times": {"warm": [3, 5, 6]}}
{"server": "sandgate", "times": {"warm": [20]}}
{"server": "stub", "times": {"warm": [10]}}"#;
    keep(said, &mut samples).unwrap();
    let added = samples.summary(&added_series("warm")).unwrap();
    assert_eq!((added.count, added.min, added.max), (2, 3.0, 10.0));
    assert_eq!(samples.summary(&series("warm", STUB)).unwrap().count, 4);
}

#[test]
fn half_a_round_and_other_words_are_errors() {
    let mut samples = Samples::default();
    assert!(keep(r#"{"server": "stub", "times": {}}"#, &mut samples).is_err());
    assert!(keep("nonsense", &mut samples).is_err());
    let unlike = "{\"server\": \"stub\", \"times\": {\"a\": [1]}}\n{\"server\": \"sandgate\", \"times\": {}}";
    assert!(keep(unlike, &mut samples).is_err());
}
