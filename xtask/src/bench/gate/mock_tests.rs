//! The mock does what a model's name says, however a client writes JSON.

use std::time::Duration;

use super::{Manner, asked};

#[test]
fn the_name_says_manner_and_delay() {
    let body = br#"{"model":"code-60","input":"x"}"#;
    assert_eq!(asked(body), Some((Manner::Code, Duration::from_millis(60))));
}

#[test]
fn spaces_do_not_matter() {
    assert_eq!(asked(br#"{"model": "plain-0"}"#), Some((Manner::Plain, Duration::ZERO)));
}

#[test]
fn other_names_are_refused() {
    for body in [&br#"{"model":"gpt-5"}"#[..], br#"{"model":"plain"}"#, br"{}", br#"{"model":"#] {
        assert_eq!(asked(body), None);
    }
}
