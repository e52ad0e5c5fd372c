//! No policy passes the ceiling: neither when it is asked for nor when a connection is made.

use super::{NetworkCeiling, OutsideCeiling};
use crate::network::{Destination, HostName, NetworkPolicy, Verdict};

fn policy(words: &[&str]) -> NetworkPolicy {
    NetworkPolicy::from_words(words.iter().copied()).unwrap()
}

fn ceiling(words: &[&str]) -> NetworkCeiling {
    NetworkCeiling::from_words(words.iter().copied()).unwrap()
}

#[test]
fn asking_for_more_is_refused_by_name() {
    let ceiling = ceiling(&["*.example.org", "example.net", "203.0.113.0/24"]);
    for words in
        [&["a.example.org", "example.net:443"][..], &["*.a.example.org"], &["203.0.113.7"], &["disabled"]]
    {
        assert_eq!(ceiling.check(&policy(words)), Ok(()), "{words:?}");
    }
    for words in ["example.org", "*.example.net", "a.example.org:22", "203.0.112.0/23", "evil.test"] {
        let told = ceiling.check(&policy(&[words])).unwrap_err();
        assert!(matches!(told, OutsideCeiling::Target(_)), "{words}: {told}");
    }
    assert_eq!(ceiling.check(&policy(&["open"])), Err(OutsideCeiling::Open));
    assert_eq!(ceiling.check(&policy(&["registries"])), Err(OutsideCeiling::Registries));
    assert_eq!(NetworkCeiling::default().check(&policy(&["disabled"])), Ok(()));
    assert!(NetworkCeiling::default().check(&policy(&["example.org"])).is_err());
    assert_eq!(NetworkCeiling::unbounded().check(&policy(&["open"])), Ok(()));
}

#[test]
fn each_connection_is_held_against_it() {
    let name: HostName = "a.example.org".parse().unwrap();
    let to = Destination { name: Some(&name), address: None, port: 443 };
    assert_eq!(ceiling(&["*.example.org"]).decide(to), Verdict::Allowed);
    assert_ne!(ceiling(&["example.net"]).decide(to), Verdict::Allowed);
    let mut open = NetworkCeiling::unbounded();
    assert_eq!(open.decide(to), Verdict::Allowed);
    open.deny.push("*.example.org:*".parse().unwrap());
    assert_ne!(open.decide(to), Verdict::Allowed);
    open.allow.push("a.example.org".parse().unwrap());
    assert_ne!(open.decide(to), Verdict::Allowed, "what is denied here stays denied");
}

#[test]
fn a_denial_of_one_port_leaves_the_others() {
    let mut open = NetworkCeiling::unbounded();
    open.deny.push("0.0.0.0/0:25".parse().unwrap());
    let at = |address: &str, port| {
        let to = Destination { name: None, address: Some(address.parse().unwrap()), port };
        open.decide(to) == Verdict::Allowed
    };
    assert!(at("1.1.1.1", 443));
    assert!(!at("1.1.1.1", 25));
    assert!(!at("2606:4700::1111", 25), "one family stands for both");
    assert!(open.may_resolve(&"example.org".parse().unwrap()));
}

#[test]
fn a_denied_range_is_denied_in_other_forms_too() {
    let ceiling = NetworkCeiling { deny: vec!["8.8.8.0/24".parse().unwrap()], ..NetworkCeiling::unbounded() };
    let allows = |address: &str| {
        let address = Some(address.parse().unwrap());
        ceiling.decide(Destination { name: None, address, port: 443 }) == Verdict::Allowed
    };
    assert!(!allows("8.8.8.8") && !allows("64:ff9b::808:808") && allows("64:ff9b::909:909"));
}
