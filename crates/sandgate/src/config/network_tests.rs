//! The section `network` of the configuration.

use sandgate_core::network::{Destination, NetworkLimits, NetworkPolicy, Verdict};
use sandgate_engine::Resolution;
use serde_json::json;

use super::NetworkFile;

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn nothing_is_said_and_nothing_is_reached() {
    let settings = NetworkFile::default().check().unwrap();
    assert!(settings.rules.usual.is_disabled());
    assert!(settings.rules.grant(Some(NetworkPolicy::open()), None).is_err());
    assert_eq!(settings.egress.resolution, Resolution::System);
}

#[test]
fn what_is_usual_is_also_the_most_unless_more_is_said() {
    let file = NetworkFile { default: words(&["a.example"]), ..NetworkFile::default() };
    let rules = file.check().unwrap().rules;
    assert!(rules.grant(Some(NetworkPolicy::from_words(["a.example"]).unwrap()), None).is_ok());
    assert!(rules.grant(Some(NetworkPolicy::from_words(["b.example"]).unwrap()), None).is_err());
    let file =
        NetworkFile { ceiling: Some(words(&["open"])), dns: words(&["1.1.1.1", "[::1]:5353"]), ..file };
    let settings = file.check().unwrap();
    assert!(settings.rules.grant(Some(NetworkPolicy::open()), None).is_ok());
    let servers = vec!["1.1.1.1:53".parse().unwrap(), "[::1]:5353".parse().unwrap()];
    assert_eq!(settings.egress.resolution, Resolution::Servers(servers));
}

#[test]
fn all_that_is_said_arrives() {
    let file: NetworkFile = serde_json::from_value(json!({
        "default": ["a.example.org"], "ceiling": ["*.example.org"], "deny": ["b.example.org", "c.example.org:22"],
        "allow_private": ["10.20.0.0/16"], "connections": 7,
        "limits": {"connections": 1, "connections_per_second": 2, "bytes_per_second": 3, "bytes": 4},
    }))
    .unwrap();
    let settings = file.check().unwrap();
    assert_eq!(settings.rules.usual, NetworkPolicy::from_words(["a.example.org"]).unwrap());
    let denies = |name: &str, port| {
        let name = name.parse().unwrap();
        let to = Destination { name: Some(&name), address: None, port };
        settings.rules.ceiling.decide(to) != Verdict::Allowed
    };
    assert!(!denies("a.example.org", 443) && !denies("c.example.org", 443) && denies("a.test", 443));
    assert!(
        denies("b.example.org", 443) && denies("b.example.org", 22),
        "who denies a host denies all of its ports"
    );
    assert!(denies("c.example.org", 22));
    let limits = NetworkLimits {
        connections: 1,
        connections_per_second: 2,
        bytes_per_second: Some(3),
        bytes: Some(4),
    };
    assert_eq!(settings.limits, limits);
    assert_eq!(settings.egress.connections, 7);
    assert_eq!(settings.egress.allow_private, ["10.20.0.0/16".parse().unwrap()]);
}

#[test]
fn names_what_is_wrong() {
    let file = NetworkFile::default;
    let limits = || super::NetworkLimitsFile { connections: 0, ..super::NetworkLimitsFile::default() };
    for (file, said) in [
        (NetworkFile { default: words(&["*"]), ..file() }, "default"),
        (NetworkFile { default: words(&["open"]), ceiling: Some(words(&["a.b"])), ..file() }, "more than"),
        (NetworkFile { ceiling: Some(words(&["open", "a.b"])), ..file() }, "stand alone"),
        (NetworkFile { default: words(&["none"]), ..file() }, "'disabled'"),
        (NetworkFile { deny: words(&["a.b", "http://x"]), ..file() }, "deny"),
        (NetworkFile { allow_private: words(&["10.0.0.0/33"]), ..file() }, "allow_private"),
        (NetworkFile { dns: words(&["dns.example"]), ..file() }, "dns"),
        (NetworkFile { limits: limits(), ..file() }, "at least 1"),
    ] {
        let problem = format!("{:?}", file.check().unwrap_err());
        assert!(problem.contains(said), "{said}: {problem}");
    }
}

#[test]
fn registries_are_addresses_of_the_web() {
    for url in [
        "https://packages.example.org/simple",
        "http://localhost:3141/root/pypi/+simple/",
        "https://name:pass word%40@packages.example.org",
    ] {
        assert!(super::check_registry(url).is_ok(), "{url}");
    }
    for url in ["", "nope", "ftp://a", "https://", "https:///simple", "https://a b/", "file:///srv"] {
        assert!(super::check_registry(url).is_err(), "{url}");
    }
}

#[test]
fn it_is_told_in_lines_where_it_is_said() {
    let told = |file: NetworkFile| file.check().unwrap().described();
    assert!(told(NetworkFile::default()).is_empty());
    let file = NetworkFile {
        ceiling: Some(words(&["registries", "*.example.org"])),
        allow_private: words(&["10.20.0.0/16"]),
        ..NetworkFile::default()
    };
    assert_eq!(
        told(file),
        [
            "sandboxes reach nothing unless something else is asked for, and registries, *.example.org at most",
            "private ranges that they may be allowed: 10.20.0.0/16"
        ]
    );
    let open = NetworkFile { default: words(&["open"]), ..NetworkFile::default() };
    assert_eq!(
        told(open),
        ["sandboxes reach the open network unless something else is asked for, and the open network at most"]
    );
}
