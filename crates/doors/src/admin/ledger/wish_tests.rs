//! Times as people write them.

use super::when;

#[test]
fn a_time_can_be_written_in_several_ways() {
    for (text, ms) in [
        ("0", 0),
        ("1700000000", 1_700_000_000_000),
        ("1700000000.25", 1_700_000_000_250),
        ("2023-11-14T22:13:20Z", 1_700_000_000_000),
        ("2023-11-15T00:13:20+02:00", 1_700_000_000_000),
        ("2023-11-14", 1_699_920_000_000),
    ] {
        assert_eq!(when(text), Ok(ms), "{text}");
    }
    let (now, day) = (when("0s").unwrap(), when("1d").unwrap());
    assert!((86_400_000..86_500_000).contains(&(now - day)));
}

#[test]
fn what_is_no_time_is_said_to_be_none() {
    for text in [
        "",
        "yesterday",
        "-5",
        "1e400",
        "inf",
        "NaN",
        "12x",
        "2023-13-01",
        "99999999999999999999d",
        "1900-01-01",
    ] {
        let refused = when(text);
        assert!(refused.as_ref().is_err_and(|message| message.contains("24h")), "{text}: {refused:?}");
    }
}
