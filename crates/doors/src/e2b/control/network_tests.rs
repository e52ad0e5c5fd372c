//! E2B's words for the network, and the policy they come to.

use std::sync::Arc;

use sandgate_core::network::{NetworkCeiling, NetworkPolicy};
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
    let but = on(&open, json!({"denyOut": ["1.1.1.1"]}), None).unwrap();
    assert_eq!(but, NetworkPolicy::allow_then_deny(Vec::new(), targets(&["1.1.1.1"])));
    let but = on(&closed, json!({"denyOut": ["1.1.1.1"]}), None).unwrap();
    assert_eq!(but.rules.len(), 2);
    assert_eq!(but.default, NetworkPolicy::disabled().default);
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
        (json!({"rules": {"a.com": []}}), "does not rewrite"),
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
