//! Times as people write them, and limits over limits.

use super::*;

#[test]
fn times_have_units() {
    assert_eq!(seconds("90"), Ok(90));
    assert_eq!(seconds("2m"), Ok(120));
    assert_eq!(seconds("12h"), Ok(43_200));
    assert_eq!(seconds("30d"), Ok(2_592_000));
    for text in ["", "0", "d", "-1", "1w", "1.5h"] {
        assert!(seconds(text).is_err(), "{text}");
    }
}

#[test]
fn limits_that_are_not_named_stay() {
    let there = KeyLimits { containers: Some(2), log_code: Some(true), ..KeyLimits::default() };
    let named = LimitArgs { executions: Some(3), log_code: Some(false), ..LimitArgs::default() };
    let expected =
        KeyLimits { containers: Some(2), executions: Some(3), log_code: Some(false), ..KeyLimits::default() };
    assert_eq!(named.over(there), expected);
}
