//! Lengths of time, short and long.

use super::*;

#[test]
fn lengths_have_the_digits_that_matter() {
    for (ms, text) in [
        (0, "0 ms"),
        (840, "840 ms"),
        (1240, "1.24 s"),
        (2000, "2 s"),
        (12_345, "12.3 s"),
        (60_000, "1 min"),
        (3_599_999, "59 min"),
        (7_200_000, "2 h"),
        (432_000_000, "5 d"),
    ] {
        assert_eq!(length(ms), text);
    }
    assert_eq!(exact_length(1.26), "1.3 ms");
    assert_eq!(exact_length(1260.4), "1.26 s");
    assert_eq!(exact_length(f64::NAN), "0 ms");
    assert_eq!(exact_length(f64::INFINITY), "11574074 d");
}

#[test]
fn a_moment_is_relative_for_the_eye_and_exact_on_a_closer_look() {
    let shown = ago_ms(now_ms() - 61_000).into_string();
    assert!(shown.contains(">1 min ago<") && shown.contains("UTC\""), "{shown}");
    assert!(ago_ms(u64::MAX).into_string().contains("just now"));
    assert!(until_seconds(now_seconds() + 120).into_string().contains("in "), "a time to come");
}
