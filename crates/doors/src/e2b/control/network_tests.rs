//! E2B's words for the network, and the policy they come to.

use std::sync::Arc;

use sandgate_core::network::{Action, NetworkCeiling, NetworkPolicy};
use sandgate_core::testing::ScriptedBackend;
use sandgate_core::{Containers, ContainersConfig, KeyLimits, MemoryRegistry, NetworkRules};
use serde_json::{Value, json};

use super::Asked;
use crate::e2b::error::E2bResult;

async fn containers(usual: &[&str], ceiling: &[&str]) -> Containers {
    let ceiling = NetworkCeiling::from_words(ceiling.iter().copied()).unwrap();
    let config = ContainersConfig {
        network: NetworkRules { usual: policy(usual), ceiling },
        ..ContainersConfig::default()
    };
    let backend = Arc::new(ScriptedBackend::default());
    Containers::open(backend, Arc::new(MemoryRegistry::default()), config).await.unwrap()
}

fn policy(words: &[&str]) -> NetworkPolicy {
    NetworkPolicy::from_words(words.iter().copied()).unwrap()
}

fn read(network: Value, internet: Option<bool>) -> E2bResult<Asked> {
    Asked::read(network.as_object(), internet)
}

fn targets(words: &[&str]) -> Vec<sandgate_core::network::Target> {
    words.iter().map(|word| word.parse().unwrap()).collect()
}

#[tokio::test]
async fn the_words_come_to_a_policy() {
    let open = containers(&[], &["open"]).await;
    let closed = containers(&["a.example"], &["a.example"]).await;
    let key = KeyLimits::default();
    let on = |containers: &Containers, network: Value, internet| {
        read(network, internet).unwrap().policy(containers, &key).unwrap()
    };
    // The internet in general: all there is.
    assert_eq!(on(&open, json!({}), Some(true)), Some(NetworkPolicy::open()));
    assert_eq!(on(&closed, json!({}), Some(true)), None);
    assert_eq!(on(&open, json!({}), None), None);
    assert_eq!(on(&open, json!({}), Some(false)), Some(NetworkPolicy::disabled()));
    // Names, and nothing else.
    let named = on(&open, json!({"allowOut": ["a.example"], "denyOut": ["0.0.0.0/0"]}), None).unwrap();
    assert_eq!(named, NetworkPolicy::allow_then_deny(targets(&["a.example"]), targets(&["0.0.0.0/0"])));
    let named = on(&open, json!({"allowOut": ["a.example"]}), Some(false)).unwrap();
    assert_eq!(named, policy(&["a.example"]));
    // Packages, with the meaning that the word has everywhere.
    let packages = json!({"allowOut": ["a.example", "registries"], "denyOut": ["0.0.0.0/0"]});
    let named = NetworkPolicy::allow_then_deny(targets(&["a.example"]), targets(&["0.0.0.0/0"]));
    assert_eq!(on(&open, packages, None), Some(NetworkPolicy { registries: true, ..named }));
    assert_eq!(on(&open, json!({"allowOut": ["registries"]}), Some(false)), Some(policy(&["registries"])));
    // All but these, of what there is.
    let but = on(&open, json!({"denyOut": ["1.1.1.1"]}), Some(true)).unwrap();
    assert_eq!(but, NetworkPolicy::allow_then_deny(Vec::new(), targets(&["1.1.1.1"])));
    for internet in [None, Some(true)] {
        let but = on(&closed, json!({"denyOut": ["1.1.1.1"]}), internet).unwrap();
        assert_eq!(but.rules.len(), 2);
        assert_eq!(but.default, NetworkPolicy::disabled().default);
    }
}

/// Who says nothing of the internet has what the server gives to those who ask for nothing, whatever else is said.
#[tokio::test]
async fn what_is_said_beside_the_internet_opens_no_more_of_it() {
    let key = KeyLimits::default();
    let (asks, usual) = (containers(&[], &["open"]).await, containers(&["open"], &["open"]).await);
    let on = |containers: &Containers, network: Value| {
        read(network, None).unwrap().policy(containers, &key).unwrap().unwrap()
    };
    assert!(on(&asks, json!({"denyOut": ["8.8.8.8"]})).is_disabled());
    let only = on(&asks, json!({"allowOut": ["8.8.8.8"], "denyOut": ["9.9.9.9"]}));
    assert_eq!(only.default, Action::Deny);
    assert!(!only.is_disabled());
    let all_but = on(&usual, json!({"denyOut": ["8.8.8.8"]}));
    assert_eq!(all_but, NetworkPolicy::allow_then_deny(Vec::new(), targets(&["8.8.8.8"])));
    let both = json!({"allowOut": ["8.8.8.8"], "denyOut": ["8.8.0.0/16"]});
    let expected = NetworkPolicy::allow_then_deny(targets(&["8.8.8.8"]), targets(&["8.8.0.0/16"]));
    assert_eq!(on(&usual, both), expected);
}

#[tokio::test]
async fn a_denial_of_all_on_one_port_leaves_the_others() {
    let key = KeyLimits::default();
    let open = containers(&["open"], &["open"]).await;
    let asked = read(json!({"denyOut": ["0.0.0.0/0:25"]}), None).unwrap();
    assert_eq!(asked.policy(&open, &key).unwrap().unwrap().default, Action::Allow);
    let named = json!({"allowOut": ["a.example"], "denyOut": ["0.0.0.0/0:25"]});
    assert!(read(named, None).unwrap_err().body().to_string().contains("needs '0.0.0.0/0'"));
}

#[test]
fn what_asks_for_nothing_is_taken() {
    for network in [
        json!({"rules": {"a.com": []}}),
        json!({"rules": {"a.com": [{}], "b.com": [{"transform": null}]}}),
        json!({"egressProxy": null, "dnsServers": []}),
        json!({"maskRequestHost": "localhost:${PORT}"}),
        json!({"maskRequestHost": "localhost"}),
        json!({"maskRequestHost": "[::1]:8080"}),
    ] {
        read(network, None).unwrap();
    }
}

#[test]
fn bits_behind_the_prefix_of_a_range_do_not_count() {
    let network = |allowed: &str, denied: &str| json!({"allowOut": [allowed], "denyOut": [denied]});
    let given = read(network("8.8.8.8/24", "10.1.2.3/8"), None).unwrap();
    assert_eq!(given, read(network("8.8.8.0/24", "10.0.0.0/8"), None).unwrap());
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (network, said) in [
        (json!({"allowOut": ["a.example"]}), "needs '0.0.0.0/0'"),
        (json!({"allowOut": ["registries"]}), "needs '0.0.0.0/0'"),
        (json!({"allowOut": "a.example"}), "wrong type"),
        (json!({"allowOut": [1]}), "wrong type"),
        (json!({"allowOut": ["*"], "denyOut": ["0.0.0.0/0"]}), "'network.allowOut'"),
        (json!({"denyOut": ["a.example"]}), "takes addresses"),
        (json!({"denyOut": ["registries"]}), "takes addresses"),
        (json!({"egressProxy": {"address": "x:1"}}), "no other proxy"),
        (json!({"rules": {"a.com": [{"transform": {"headers": {"a": "b"}}}]}}), "does not rewrite"),
        (json!({"deny_out": ["0.0.0.0/0"]}), "has no field 'deny_out'"),
        (json!({"allow_internet_access": false}), "has no field 'allow_internet_access'"),
        (json!({"maskRequestHost": 7}), "maskRequestHost"),
        (json!({"maskRequestHost": ""}), "maskRequestHost"),
        (json!({"maskRequestHost": "a b"}), "maskRequestHost"),
        (json!({"maskRequestHost": "a/b"}), "maskRequestHost"),
        (json!({"maskRequestHost": "a@b"}), "maskRequestHost"),
        (json!({"maskRequestHost": "a:port"}), "maskRequestHost"),
        (json!({"dnsServers": ["1.1.1.1"]}), "the operator chooses"),
        (json!({"allowPublicTraffic": 1}), "must be true or false"),
        (json!({"httpsPorts": 443}), "numbers of ports"),
        (json!({"httpsPorts": [0]}), "numbers of ports"),
        (json!({"httpsPorts": ["443"]}), "numbers of ports"),
    ] {
        let error = read(network, None).unwrap_err();
        assert!(error.body().to_string().contains(said), "{said}: {:?}", error.body());
    }
}
