//! Names have one form; patterns match what lies below them and nothing that only looks like it.

use super::{HostName, HostPattern};
use crate::network::InvalidTarget;

fn name(text: &str) -> HostName {
    text.parse().unwrap()
}

fn pattern(text: &str) -> HostPattern {
    text.parse().unwrap()
}

#[test]
fn spellings_of_one_name_are_one_name() {
    for text in ["example.org", "EXAMPLE.org", "example.org.", "Example.Org."] {
        assert_eq!(name(text).as_str(), "example.org");
    }
    assert_eq!(name("xn--bcher-kva.example").as_str(), "xn--bcher-kva.example");
    assert_eq!(name("_dmarc.example.org").as_str(), "_dmarc.example.org");
}

#[test]
fn what_is_no_name_is_refused_with_the_reason() {
    let long_label = format!("{}.org", "a".repeat(64));
    let long_name = format!("{}.org", "a.".repeat(126));
    let cases = [
        ("", "empty"),
        (".", "empty"),
        ("a..b", "between two dots is empty"),
        (".example.org", "between two dots is empty"),
        ("example.org..", "between two dots is empty"),
        ("-a.org", "begins or ends"),
        ("a-.org", "begins or ends"),
        ("exa mple.org", "only letters"),
        ("example.org/x", "only letters"),
        ("user@example.org", "only letters"),
        ("example.org\n", "only letters"),
        ("example.org\0.evil.test", "only letters"),
        ("bücher.example", "xn--"),
        ("ｅxample.org", "xn--"),
        ("a.*.org", "whole first part"),
        ("2130706433", "ends in a number"),
        ("0x7f000001", "ends in a number"),
        ("0177.0.0.1", "ends in a number"),
        ("127.1", "ends in a number"),
        ("127.0.0.1", "ends in a number"),
        ("127.0.0.0x1", "ends in a number"),
        ("127.0.0.1.", "ends in a number"),
        (&long_label, "63"),
        (&long_name, "253"),
    ];
    for (text, why) in cases {
        let told = text.parse::<HostName>().unwrap_err().to_string();
        assert!(told.contains(why), "{text:?}: {told}");
    }
}

#[test]
fn a_wildcard_is_what_lies_below() {
    let below = pattern("*.Example.org");
    for text in ["a.example.org", "a.b.example.org", "A.EXAMPLE.ORG."] {
        assert!(below.matches(&name(text)), "{text}");
    }
    for text in ["example.org", "notexample.org", "a.example.org.evil.test", "aexample.org", "example.com"] {
        assert!(!below.matches(&name(text)), "{text}");
    }
    assert_eq!("*".parse::<HostPattern>(), Err(InvalidTarget::Everything));
    assert!(matches!("*.org".parse::<HostPattern>(), Err(InvalidTarget::WideWildcard(_))));
    for text in ["*example.org", "*.*.example.org", "a*.example.org", "*.", "**.example.org", "*.127.0.0.1"] {
        assert!(text.parse::<HostPattern>().is_err(), "{text}");
    }
}

#[test]
fn covering_is_containing_every_name() {
    let below = pattern("*.example.org");
    assert!(below.covers(&pattern("*.example.org")));
    assert!(below.covers(&pattern("*.a.example.org")));
    assert!(below.covers(&pattern("a.example.org")));
    assert!(!below.covers(&pattern("example.org")));
    assert!(!pattern("*.a.example.org").covers(&below));
    assert!(!pattern("example.org").covers(&below));
}

#[test]
fn names_of_this_machine_are_known() {
    assert!(name("localhost").is_local() && name("a.LOCALHOST.").is_local());
    assert!(!name("localhost.example.org").is_local());
}
