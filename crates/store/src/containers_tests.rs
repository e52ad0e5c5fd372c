//! The store as the registry of containers.

use sandgate_core::{ContainerId, ContainerRecord, Registry, SandboxId, SandboxSpec};
use serde_json::json;

use crate::Store;
use crate::testing::{ann, bob, store};

pub(crate) fn container(id: &str) -> ContainerRecord {
    ContainerRecord {
        id: ContainerId::parse(id).unwrap(),
        owner: ann(),
        backend: "engine".to_owned(),
        sandbox: SandboxId::parse("sbx_1").unwrap(),
        name: Some("mine".to_owned()),
        created_at: 1,
        last_active_at: 2,
        idle_seconds: 1200,
        spec: SandboxSpec::default(),
        memory_limit: Some("1g".to_owned()),
        unlisted: false,
        session: None,
        network_policy: Some(json!({"type": "disabled"})),
    }
}

#[tokio::test]
async fn records_are_saved_changed_and_removed() {
    let (home, store) = store().await;
    let (first, mut second) = (container("cntr_b"), container("cntr_a"));
    store.save(&first).await.unwrap();
    store.save(&second).await.unwrap();
    (second.last_active_at, second.owner) = (99, bob());
    store.save(&second).await.unwrap();
    drop(store);
    let store = Store::open(home.path()).await.unwrap();
    assert_eq!(store.load().await.unwrap(), [first.clone(), second.clone()]);
    store.remove(&first.id).await.unwrap();
    store.remove(&first.id).await.unwrap();
    assert_eq!(store.load().await.unwrap(), [second]);
}

#[tokio::test]
async fn a_record_that_cannot_be_read_does_not_hide_the_others() {
    let (_home, store) = store().await;
    let good = container("cntr_good");
    store.save(&good).await.unwrap();
    let text = "INSERT INTO containers (id, owner, record) VALUES ('cntr_bad', 'x', '{}')";
    store.write(move |transaction| Ok(transaction.execute(text, [])?)).await.unwrap();
    assert_eq!(store.load().await.unwrap(), [good]);
}
