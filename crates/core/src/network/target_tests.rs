//! Targets are read strictly, written as they were read, and cover what they say.

use super::{InvalidTarget, Target};

fn target(text: &str) -> Target {
    text.parse().unwrap()
}

#[test]
fn targets_survive_being_written() {
    for text in [
        "example.org",
        "*.example.org",
        "example.org:8443",
        "*.example.org:8000-8010",
        "example.org:*",
        "192.0.2.0/24",
        "[192.0.2.0/24]:5432",
        "2001:db8::/32",
        "[2001:db8::/32]:443",
    ] {
        assert_eq!(target(text).to_string(), text);
        assert_eq!(target(&target(text).to_string()), target(text));
    }
    assert_eq!(target("192.0.2.7:80").to_string(), "[192.0.2.7/32]:80");
    assert_eq!(target("2001:db8::1").to_string(), "2001:db8::1/128");
}

#[test]
fn names_mean_the_web_and_addresses_every_port() {
    assert!(target("example.org").ports().contains(443) && !target("example.org").ports().contains(22));
    assert!(target("192.0.2.7").ports().contains(22));
    assert!(target("example.org").on_any_port().ports().contains(22));
}

#[test]
fn what_is_no_target_is_refused_with_the_reason() {
    for (text, why) in [
        ("https://example.org", "URL"),
        ("example.org/path", "range"),
        ("example.org:0", "port"),
        ("example.org:65536", "port"),
        ("example.org:443-80", "port"),
        ("example.org:+80", "port"),
        ("example.org:", "port"),
        ("*", "own word"),
        ("*:443", "own word"),
        ("[2001:db8::1", "']'"),
        ("[2001:db8::1]443", "']'"),
        ("127.1", "ends in a number"),
    ] {
        let told = text.parse::<Target>().unwrap_err().to_string();
        assert!(told.contains(why), "{text}: {told}");
    }
    assert_eq!("*".parse::<Target>(), Err(InvalidTarget::Everything));
}

#[test]
fn covering_needs_hosts_and_ports() {
    for (wide, narrow) in [
        ("*.example.org", "a.example.org"),
        ("example.org:*", "example.org"),
        ("example.org:1-500", "example.org"),
        ("example.org", "example.org:443"),
        ("10.0.0.0/8", "10.1.0.0/16:5432"),
    ] {
        assert!(target(wide).covers(&target(narrow)), "{wide} {narrow}");
        assert!(!target(narrow).covers(&target(wide)), "{narrow} {wide}");
    }
    assert!(!target("example.org").covers(&target("example.org:80-443")));
    assert!(!target("0.0.0.0/0").covers(&target("example.org")));
}
