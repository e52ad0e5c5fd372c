//! What is wrong with a request is said before a model is asked.

use sandgate_core::network::{NetworkCeiling, NetworkPolicy};
use sandgate_core::testing::ScriptedBackend;
use sandgate_core::{ContainersConfig, NetworkRules};
use serde_json::json;

use super::*;
use crate::network_param::read_network_policy;

async fn rules(home: &std::path::Path) -> WorkplaceRules {
    let store = Store::open(home).await.unwrap();
    let network = NetworkRules { usual: NetworkPolicy::disabled(), ceiling: NetworkCeiling::unbounded() };
    let config = ContainersConfig { network, ..ContainersConfig::default() };
    let backend = Arc::new(ScriptedBackend::default());
    let containers = Containers::open(backend, Arc::new(store.clone()), config).await.unwrap();
    WorkplaceRules {
        containers: Arc::new(containers),
        files: ContainerFiles::new(store.clone()),
        store,
        spec: SandboxSpec::default(),
        max_memory: 1 << 30,
        allowance: Arc::new(KeyLimits { asked_backend: Some("closed".to_owned()), ..KeyLimits::default() }),
        strict: false,
        session: None,
        session_locks: crate::sessions::SessionLocks::default(),
        tasks: TaskTracker::new(),
    }
}

#[tokio::test]
async fn a_policy_is_held_against_the_container_that_it_is_for() {
    let home = tempfile::tempdir().unwrap();
    let rules = rules(home.path()).await;
    let policy = json!({"type": "allowlist", "allowed_domains": ["a.example"]});
    let network = read_network_policy(Some(&policy), "network_policy").unwrap();
    let auto = AutoContainer { network, ..AutoContainer::default() };
    let tool = CodeTool { index: 0, container: ContainerChoice::Auto(auto), allowed_callers: None };
    let owner = Owner::anonymous();
    let choose = async |seen: &[String]| {
        Workplace::choose(&rules, &owner, Some(&tool), seen, Vec::new()).await.map(|_| ())
    };
    // A new one would be on a backend that gives no network; this one is not.
    let refused = choose(&[]).await.unwrap_err();
    assert!(refused.to_string().contains("network policy"), "{refused}");
    let new = NewContainer { owner: owner.clone(), ..NewContainer::default() };
    let found = rules.containers.create(new).await.unwrap();
    choose(&[found.id().to_string()]).await.unwrap();
}
