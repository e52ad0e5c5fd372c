//! Who gets which network.

use std::sync::Arc;

use super::{NetworkRefused, NetworkRules, grant_fixed};
use crate::network::{NetworkCeiling, NetworkPolicy, OutsideCeiling};
use crate::testing::ScriptedBackend;
use crate::{BackendError, Containers, ContainersConfig, KeyLimits, MemoryRegistry, NewContainer};

fn policy(words: &[&str]) -> NetworkPolicy {
    NetworkPolicy::from_words(words.iter().copied()).unwrap()
}

fn rules(usual: &[&str], ceiling: &[&str]) -> NetworkRules {
    let ceiling = NetworkCeiling::from_words(ceiling.iter().copied()).unwrap();
    NetworkRules { usual: policy(usual), ceiling }
}

fn key(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn nobody_gets_anything_from_a_server_that_says_nothing() {
    let nothing = NetworkRules::default();
    assert!(nothing.grant(None, None).unwrap().is_disabled());
    assert!(nothing.grant(Some(NetworkPolicy::disabled()), None).unwrap().is_disabled());
    for asked in [&["open"][..], &["a.example"], &["registries"], &["192.0.2.0/24"]] {
        assert!(matches!(nothing.grant(Some(policy(asked)), None), Err(NetworkRefused::Server(_))));
    }
    assert_eq!(nothing.widest(None), None);
}

#[test]
fn a_request_stays_below_the_server_and_the_key() {
    let server = rules(&["a.example"], &["a.example", "*.b.example"]);
    let granted = |asked: &[&str], own: Option<&[&str]>| {
        let own = own.map(key);
        server.grant(Some(policy(asked)), own.as_deref())
    };
    assert_eq!(granted(&["x.b.example"], None).unwrap(), policy(&["x.b.example"]));
    let outside = OutsideCeiling::Target("c.example".parse().unwrap());
    assert_eq!(granted(&["c.example"], None), Err(NetworkRefused::Server(outside)));
    let outside = OutsideCeiling::Target("a.example".parse().unwrap());
    assert_eq!(granted(&["a.example"], Some(&["x.b.example"])), Err(NetworkRefused::Key(outside)));
    assert!(granted(&["x.b.example"], Some(&["x.b.example"])).is_ok());
    assert!(granted(&["a.example"], Some(&[])).is_err());
    // A bound that cannot be read opens nothing.
    assert!(matches!(granted(&["a.example"], Some(&["*"])), Err(NetworkRefused::Invalid(_))));
}

#[test]
fn who_asks_for_nothing_gets_the_usual_as_far_as_the_key_goes() {
    let server = rules(&["a.example"], &["open"]);
    assert_eq!(server.grant(None, None).unwrap(), policy(&["a.example"]));
    assert_eq!(server.grant(None, Some(&key(&["a.example"]))).unwrap(), policy(&["a.example"]));
    assert!(server.grant(None, Some(&[])).unwrap().is_disabled());
    assert_eq!(server.widest(None), Some(NetworkPolicy::open()));
    assert_eq!(server.widest(Some(&key(&["a.example"]))), None);
}

#[tokio::test]
async fn a_key_runs_no_code_where_more_is_reached_than_it_may() {
    let network = rules(&["a.example"], &["open"]);
    let config = ContainersConfig { network, ..ContainersConfig::default() };
    let (backend, registry) = (Arc::new(ScriptedBackend::default()), Arc::new(MemoryRegistry::default()));
    let containers = Containers::open(backend, registry, config).await.unwrap();
    // Made by another key of the same owner.
    let container = containers.create(NewContainer::default()).await.unwrap();
    let bound = |words: &[&str]| KeyLimits { network: Some(key(words)), ..KeyLimits::default() };
    for words in [&["open"][..], &["a.example"], &["a.example", "b.example"]] {
        assert!(container.sandbox_within(&bound(words)).await.is_ok(), "{words:?}");
    }
    for words in [&[][..], &["b.example"], &["a.example:443"]] {
        let refused = container.sandbox_within(&bound(words)).await.unwrap_err();
        assert!(matches!(&refused, BackendError::Invalid(why) if why.contains("'a.example'")), "{refused}");
    }
}

#[test]
fn a_network_that_is_set_for_a_backend_is_had_or_closed() {
    let own = || NetworkPolicy::allowlist(vec!["a.example:*".parse().unwrap()]);
    let granted = |asked: Option<&[&str]>, bound: Option<&[&str]>| {
        grant_fixed(own(), asked.map(policy), bound.map(key).as_deref())
    };
    assert_eq!(granted(None, None).unwrap(), own());
    assert!(granted(Some(&[]), None).unwrap().is_disabled(), "whoever wants nothing has nothing");
    assert_eq!(granted(Some(&["a.example"]), None).unwrap(), own(), "what there is, without its ports");
    for more in [&["open"][..], &["a.example", "b.example"], &["registries"], &["a.example", "registries"]] {
        let refused = granted(Some(more), None).unwrap_err();
        assert!(refused.to_string().contains("a.example:*"), "{more:?}: {refused}");
    }
    assert_eq!(granted(None, Some(&["a.example:*"])).unwrap(), own());
    for less in [&[][..], &["b.example"], &["registries"]] {
        assert!(granted(None, Some(less)).unwrap().is_disabled(), "a key stays within its bound: {less:?}");
        assert!(matches!(granted(Some(&["a.example"]), Some(less)), Err(NetworkRefused::Key(_))), "{less:?}");
    }
}
