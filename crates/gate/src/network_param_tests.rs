//! OpenAI's network policies, and that their secrets stay where they belong.

use sandgate_core::Secret;
use sandgate_core::network::{MOST_SECRETS, NetworkPolicy};
use serde_json::{Value, json};

use super::{AskedNetwork, read_network_policy};
use crate::error::GateError;

fn read(policy: Value) -> AskedNetwork {
    read_network_policy(Some(&policy), "network_policy").unwrap().unwrap()
}

fn refusal(policy: Value) -> (String, String) {
    match read_network_policy(Some(&policy), "network_policy") {
        Err(GateError::Invalid { message, param, .. }) => (message, param.unwrap()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn reads_what_is_asked_for() {
    assert_eq!(read_network_policy(None, "x").unwrap(), None);
    assert_eq!(read_network_policy(Some(&Value::Null), "x").unwrap(), None);
    assert!(read(json!({"type": "disabled"})).policy.is_disabled());
    let asked = read(json!({"type": "allowlist", "allowed_domains": ["Example.org", "*.b.example"]}));
    let policy = NetworkPolicy::from_words(["example.org", "*.b.example"]).unwrap();
    assert_eq!(asked.policy, policy);
    assert_eq!(asked.said, json!({"type": "allowlist", "allowed_domains": ["Example.org", "*.b.example"]}));
}

#[test]
fn secrets_are_in_the_policy_and_in_nothing_that_is_shown() {
    let secret = json!({"domain": "a.example", "name": "TOKEN", "value": "hidden-value"});
    let asked =
        read(json!({"type": "allowlist", "allowed_domains": ["a.example"], "domain_secrets": [secret]}));
    assert_eq!(asked.policy.secrets[0].value.as_ref().map(Secret::expose), Some("hidden-value"));
    assert_eq!(asked.policy.secrets[0].name, "TOKEN");
    let shown = format!("{asked:?} {} {}", asked.said, serde_json::to_string(&asked.policy).unwrap());
    assert!(!shown.contains("hidden-value"), "{shown}");
}

#[test]
fn says_what_is_wrong_and_never_a_secret() {
    let with = |secrets: Value| json!({"type": "allowlist", "allowed_domains": ["a.example"], "domain_secrets": secrets});
    let hidden = "hidden-value";
    for (policy, param) in [
        (json!({}), "network_policy.type"),
        (json!({"type": "open"}), "network_policy.type"),
        (json!({"type": 1}), "network_policy.type"),
        (json!({"type": "disabled", "allowed_domains": ["a.b"]}), "network_policy.allowed_domains"),
        (json!({"type": "disabled", "domain_secrets": [hidden]}), "network_policy.domain_secrets"),
        (json!([]), "network_policy"),
        (json!({"type": "allowlist"}), "network_policy.allowed_domains"),
        (json!({"type": "allowlist", "allowed_domains": []}), "network_policy.allowed_domains"),
        (json!({"type": "allowlist", "allowed_domains": "a.b"}), "network_policy.allowed_domains"),
        (json!({"type": "allowlist", "allowed_domains": [1]}), "network_policy.allowed_domains[0]"),
        (json!({"type": "allowlist", "allowed_domains": ["a.b", "*"]}), "network_policy.allowed_domains[1]"),
        (json!({"type": "allowlist", "allowed_domains": ["10.0.0.1"]}), "network_policy.allowed_domains[0]"),
        (json!({"type": "allowlist", "allowed_domains": ["a.b"], "x": 1}), "network_policy.x"),
        (with(json!(hidden)), "network_policy.domain_secrets"),
        (with(json!([])), "network_policy.domain_secrets"),
        (with(json!([hidden])), "network_policy.domain_secrets[0]"),
        (with(json!([{"domain": "a.example", "name": "A"}])), "network_policy.domain_secrets[0].value"),
        (
            with(json!([{"domain": "b.example", "name": "A", "value": hidden}])),
            "network_policy.domain_secrets[0].domain",
        ),
        (
            with(json!([{"domain": "a.example", "name": "A=", "value": hidden}])),
            "network_policy.domain_secrets[0].name",
        ),
        (
            with(json!([{"domain": "a.example", "name": "LD_PRELOAD", "value": hidden}])),
            "network_policy.domain_secrets[0].name",
        ),
        (
            with(json!([{"domain": "a.example", "name": "A", "value": "short"}])),
            "network_policy.domain_secrets[0].value",
        ),
        (
            with(json!([{"domain": "a.example:443", "name": "A", "value": hidden}])),
            "network_policy.domain_secrets[0].domain",
        ),
        (
            with(json!([{"domain": "a.example", "name": "A", "value": hidden},
                        {"domain": "A.example", "name": "A", "value": hidden}])),
            "network_policy.domain_secrets",
        ),
        (
            with(json!([{"domain": "a.example", "name": "A", "value": [hidden]}])),
            "network_policy.domain_secrets[0].value",
        ),
        (
            with(json!([{"domain": "a.example", "name": "A", "value": format!("{hidden}\n")}])),
            "network_policy.domain_secrets[0].value",
        ),
    ] {
        let (message, found) = refusal(policy);
        assert_eq!(found, param, "{message}");
        assert!(!message.contains(hidden), "{message}");
    }
}

#[test]
fn one_name_may_stand_for_a_value_of_each_domain() {
    let secret = |domain: &str, value: &str| json!({"domain": domain, "name": "TOKEN", "value": value});
    let asked = read(json!({"type": "allowlist", "allowed_domains": ["a.example", "b.example"],
        "domain_secrets": [secret("a.example", "value-of-a"), secret("b.example", "value-of-b")]}));
    assert_eq!(asked.policy.secrets.len(), 2);
}

#[test]
fn the_package_registries_are_asked_for_by_their_word() {
    for domains in [json!(["registries"]), json!(["a.example", "registries"])] {
        let asked = read(json!({"type": "allowlist", "allowed_domains": domains}));
        let words: Vec<_> = domains.as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(asked.policy, NetworkPolicy::from_words(words).unwrap());
        assert_eq!(asked.said["allowed_domains"], domains);
    }
}

/// The one number that a policy has, in the words for a list that is too long.
#[test]
fn as_many_secrets_are_taken_as_a_policy_may_have() {
    let with = |count: usize| {
        let secret =
            |index| json!({"domain": "a.example", "name": format!("T{index}"), "value": "hidden-value"});
        let secrets: Vec<_> = (0..count).map(secret).collect();
        json!({"type": "allowlist", "allowed_domains": ["a.example"], "domain_secrets": secrets})
    };
    assert_eq!(read(with(MOST_SECRETS)).policy.secrets.len(), MOST_SECRETS);
    let (message, param) = refusal(with(MOST_SECRETS + 1));
    assert_eq!(param, "network_policy.domain_secrets");
    assert!(message.contains(&format!("maximum length {MOST_SECRETS}")), "{message}");
}
