//! Ranges with more bits than count.

use super::*;

#[test]
fn bits_behind_the_prefix_do_not_count() {
    for (given, meant) in [
        ("8.8.8.8/24", "8.8.8.0/24"),
        ("8.8.8.8/24:443", "8.8.8.0/24:443"),
        ("8.8.8.8/0", "0.0.0.0/0"),
        ("8.8.8.8/32", "8.8.8.8/32"),
        ("2001:db8::1/32", "2001:db8::/32"),
        ("[2001:db8::1/32]:80", "[2001:db8::/32]:80"),
        ("2001:db8::1/0", "::/0"),
        ("a.example", "a.example"),
    ] {
        assert_eq!(read_target(given).unwrap(), meant.parse().unwrap(), "{given}");
    }
}

#[test]
fn what_is_no_range_stays_none() {
    for wrong in [
        "8.8.8.8/33",
        "8.8.8.8/",
        "8.8.8.8/x",
        "a.example/24",
        "::1/129",
        "8.8.8/24",
        "/",
        "::ffff:8.8.8.8/120",
    ] {
        assert!(read_target(wrong).is_err(), "{wrong}");
    }
}
