//! The advice in a refusal is one that would help.

use sandgate_core::network::{AddressGuard, NetworkLimits, NetworkPolicy, Target};

use super::{Host, Wanted, Why};
use crate::live::LivePolicy;

fn refusal(policy: &NetworkPolicy, name: &str) -> String {
    let wanted = Wanted { host: Host::Name(name.parse().unwrap()), port: 80 };
    let live = LivePolicy::new(policy.clone(), Vec::new(), NetworkLimits::default());
    let refusal = live.now().decide(wanted.destination()).unwrap_err();
    wanted.denied(Why::Rules(refusal)).to_string()
}

fn closed(address: &str) -> String {
    let address = address.parse().unwrap();
    let denied = AddressGuard::default().check(address).unwrap_err();
    Wanted { host: Host::Address(address), port: 80 }.denied(Why::NoRuleCould(denied)).to_string()
}

fn targets(words: &[&str]) -> Vec<Target> {
    words.iter().map(|word| word.parse().unwrap()).collect()
}

#[test]
fn where_all_the_rest_is_denied_the_host_must_be_allowed() {
    let policy = NetworkPolicy::allow_then_deny(targets(&["svc.test"]), targets(&["0.0.0.0/0"]));
    let said = refusal(&policy, "api.test");
    assert!(
        said.contains("'0.0.0.0/0' denies api.test:80") && said.contains("'api.test' must be among"),
        "{said}"
    );
    assert!(!said.contains("taken out"), "{said}");
}

#[test]
fn a_rule_against_one_host_must_be_taken_out() {
    let policy = NetworkPolicy::allow_then_deny(Vec::new(), targets(&["api.test:*"]));
    assert!(refusal(&policy, "api.test").ends_with("that rule must be taken out."));
}

#[test]
fn what_nobody_reaches_is_not_to_be_asked_for() {
    for (address, operator) in [("169.254.169.254", false), ("10.1.2.3", true), ("fd00::1", true)] {
        let said = closed(address);
        assert!(said.contains("none could") && said.contains("which no sandbox may reach"), "{said}");
        assert!(!said.contains("must be among"), "{said}");
        assert_eq!(said.contains("'allow_private'"), operator, "{said}");
    }
}
