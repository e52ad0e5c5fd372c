//! The first rule that fits decides; nothing is looked up for a name that only its address could allow.

use super::{Action, Destination, NetworkPolicy, Rule, Verdict};
use crate::Secret;
use crate::network::{DomainSecret, HostName};

fn policy(rules: &[(&str, Action)], default: Action) -> NetworkPolicy {
    let rule = |(target, action): &(&str, Action)| Rule { action: *action, target: target.parse().unwrap() };
    NetworkPolicy { rules: rules.iter().map(rule).collect(), default, ..NetworkPolicy::default() }
}

fn allowed(policy: &NetworkPolicy, name: Option<&str>, address: Option<&str>, port: u16) -> bool {
    let name: Option<HostName> = name.map(|text| text.parse().unwrap());
    let to = Destination { name: name.as_ref(), address: address.map(|text| text.parse().unwrap()), port };
    policy.decide(to) == Verdict::Allowed
}

#[test]
fn nothing_is_the_default() {
    let policy = NetworkPolicy::default();
    assert!(policy.is_disabled());
    assert!(!allowed(&policy, Some("example.org"), None, 443));
    assert!(!allowed(&policy, None, Some("192.0.2.1"), 443));
    assert!(!policy.may_resolve(&"example.org".parse().unwrap()));
}

#[test]
fn a_list_allows_its_names_on_the_ports_of_the_web() {
    let policy = NetworkPolicy::from_words(["example.org", "*.example.net", "db.example.com:5432"]).unwrap();
    assert!(!policy.is_disabled());
    assert!(allowed(&policy, Some("example.org"), None, 443));
    assert!(allowed(&policy, Some("a.example.net"), Some("192.0.2.1"), 80));
    assert!(allowed(&policy, Some("db.example.com"), None, 5432));
    assert!(!allowed(&policy, Some("db.example.com"), None, 443));
    assert!(!allowed(&policy, Some("example.org"), None, 22));
    assert!(!allowed(&policy, Some("example.net"), None, 443));
    assert!(!allowed(&policy, None, Some("192.0.2.1"), 443), "an address has no name");
}

#[test]
fn order_decides_between_allow_and_deny() {
    let policy = policy(
        &[
            ("secret.example.org:*", Action::Deny),
            ("*.example.org", Action::Allow),
            ("203.0.113.0/24", Action::Deny),
        ],
        Action::Allow,
    );
    assert!(!allowed(&policy, Some("secret.example.org"), None, 443));
    assert!(allowed(&policy, Some("a.example.org"), Some("203.0.113.9"), 443), "the name stands first");
    assert!(allowed(&policy, Some("else.test"), None, 443), "not known yet to lead there");
    assert!(!allowed(&policy, Some("else.test"), Some("203.0.113.9"), 443));
    assert!(!policy.may_resolve(&"secret.example.org".parse().unwrap()));
    assert!(policy.may_resolve(&"else.test".parse().unwrap()));
}

#[test]
fn allow_wins_over_deny_and_all_of_ipv4_means_all() {
    let parse = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
    let policy = NetworkPolicy::allow_then_deny(parse(&["example.org", "8.8.8.8"]), parse(&["0.0.0.0/0"]));
    assert!(allowed(&policy, Some("example.org"), None, 443));
    assert!(allowed(&policy, None, Some("8.8.8.8"), 53));
    assert!(!allowed(&policy, None, Some("1.1.1.1"), 443));
    assert!(!allowed(&policy, None, Some("2606:4700::1111"), 443));
    assert!(
        !allowed(&policy, Some("dns.test"), None, 443),
        "no lookup for a name that only its address allows"
    );
    let open = NetworkPolicy::allow_then_deny(Vec::new(), parse(&["8.8.8.8"]));
    assert!(!allowed(&open, None, Some("8.8.8.8"), 443));
    assert!(allowed(&open, None, Some("1.1.1.1"), 443));
    assert!(allowed(&open, Some("any.test"), None, 25));
}

#[test]
fn a_denial_of_everything_on_some_ports_closes_those_ports_alone() {
    for all in ["0.0.0.0/0:25", "[::/0]:25"] {
        let policy = NetworkPolicy::allow_then_deny(Vec::new(), vec![all.parse().unwrap()]);
        assert!(allowed(&policy, None, Some("1.1.1.1"), 443), "{all}");
        assert!(allowed(&policy, Some("any.test"), None, 443), "{all}");
        assert!(policy.may_resolve(&"any.test".parse().unwrap()), "{all}");
        assert!(!allowed(&policy, None, Some("1.1.1.1"), 25), "{all}");
        assert!(!allowed(&policy, None, Some("2606:4700::1111"), 25), "{all}");
        assert!(!allowed(&policy, Some("any.test"), None, 25), "{all}");
    }
}

#[test]
fn taking_a_rule_out_helps_only_where_the_rest_allows() {
    let name: HostName = "api.test".parse().unwrap();
    let to = Destination { name: Some(&name), address: None, port: 80 };
    let helps = |rules: &[(&str, Action)], default| {
        let policy = policy(rules, default);
        let Verdict::Denied { by: Some(rule) } = policy.decide(to) else { panic!("{policy:?}") };
        policy.allows_without(&rule, to)
    };
    assert!(!helps(&[("svc.test", Action::Allow), ("0.0.0.0/0", Action::Deny)], Action::Deny));
    assert!(!helps(&[("api.test:*", Action::Deny), ("0.0.0.0/0", Action::Deny)], Action::Allow));
    assert!(helps(&[("api.test:*", Action::Deny), ("api.test", Action::Allow)], Action::Deny));
    assert!(helps(&[("api.test:*", Action::Deny)], Action::Allow));
}

#[test]
fn a_denial_of_some_ports_leaves_the_name_to_be_looked_up() {
    let policy = policy(&[("example.org:25", Action::Deny), ("example.org:*", Action::Allow)], Action::Deny);
    assert!(policy.may_resolve(&"example.org".parse().unwrap()));
    assert!(!allowed(&policy, Some("example.org"), None, 25));
    assert!(allowed(&policy, Some("example.org"), None, 26));
}

#[test]
fn words_are_read_strictly() {
    assert!(NetworkPolicy::from_words(["disabled"]).unwrap().is_disabled());
    assert!(NetworkPolicy::from_words([]).unwrap().is_disabled());
    assert_eq!(NetworkPolicy::from_words(["open"]).unwrap(), NetworkPolicy::open());
    assert!(NetworkPolicy::from_words(["registries"]).unwrap().registries);
    for word in ["none", "all", "any", "Open", "DISABLED", "everything:443"] {
        let said = NetworkPolicy::from_words([word]).unwrap_err().to_string();
        assert!(said.contains("did you mean"), "{word}: {said}");
    }
    for words in [["open", "example.org"], ["example.org", "disabled"], ["example.org", "*"]] {
        assert!(NetworkPolicy::from_words(words).is_err(), "{words:?}");
    }
}

#[test]
fn policies_survive_being_stored() {
    let policy =
        policy(&[("*.example.org:8443", Action::Allow), ("10.0.0.0/8", Action::Deny)], Action::Allow);
    let stored = serde_json::to_string(&policy).unwrap();
    assert_eq!(serde_json::from_str::<NetworkPolicy>(&stored).unwrap(), policy);
    assert!(serde_json::from_str::<NetworkPolicy>(r#"{"rule":[]}"#).is_err());
    let wild = r#"{"rules":[{"action":"allow","target":"*"}]}"#;
    assert!(serde_json::from_str::<NetworkPolicy>(wild).unwrap_err().to_string().contains("own word"));
}

#[test]
fn too_many_rules_are_refused() {
    let many = (0..5000).map(|number| format!("a{number}.example.org")).collect::<Vec<_>>();
    let told = NetworkPolicy::from_words(many.iter().map(String::as_str)).unwrap_err().to_string();
    assert!(told.contains("5000") && told.contains("4096"), "{told}");
}

#[test]
fn secrets_are_bounded() {
    let secret = |number: usize, length: usize| {
        let value = Secret::new("x".repeat(length));
        DomainSecret::new("a.example", format!("NAME_{number}"), value).unwrap()
    };
    let policy = |secrets: Vec<DomainSecret>| NetworkPolicy { secrets, ..NetworkPolicy::default() };
    assert!(policy((0..32).map(|number| secret(number, 500)).collect()).check().is_ok());
    for (secrets, said) in [
        ((0..33).map(|number| secret(number, 8)).collect::<Vec<_>>(), "33 secrets"),
        ((0..9).map(|number| secret(number, 2000)).collect(), "18000 bytes"),
        (
            vec![secret(0, 8), secret(1, 8), secret(0, 9)],
            "'NAME_0' is given twice for the domain 'a.example'",
        ),
    ] {
        let error = policy(secrets).check().unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn what_is_denied_of_ipv4_is_denied_of_every_form_of_it() {
    let decide = |policy: &NetworkPolicy, address: &str| {
        let address = Some(address.parse().unwrap());
        policy.decide(Destination { name: None, address, port: 443 }) == Verdict::Allowed
    };
    let denying = NetworkPolicy::allow_then_deny(Vec::new(), vec!["8.8.8.0/24".parse().unwrap()]);
    for form in [
        "8.8.8.8",
        "64:ff9b::808:808",
        "2002:808:808::1",
        // Teredo, by its server and by its client.
        "2001:0:808:808::1",
        "2001:0:101:101:0:0:f7f7:f7f7",
        "2a00::5efe:808:808",
    ] {
        assert!(!decide(&denying, form), "{form}");
    }
    for other in ["64:ff9b::909:909", "2002:909:909::1", "2a00::808:808"] {
        assert!(decide(&denying, other), "{other}");
    }
    // To allow what is inside allows no way to it by another address.
    let allowing = NetworkPolicy::allowlist(vec!["8.8.8.0/24".parse().unwrap()]);
    assert!(decide(&allowing, "8.8.8.8") && !decide(&allowing, "64:ff9b::808:808"));
    // The first rule that fits decides, as always.
    let (allowed, denied) = ("64:ff9b::/96".parse().unwrap(), "0.0.0.0/0".parse().unwrap());
    assert!(decide(&NetworkPolicy::allow_then_deny(vec![allowed], vec![denied]), "64:ff9b::808:808"));
}
