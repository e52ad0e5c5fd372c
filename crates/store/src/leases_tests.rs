//! The store as the registry of leases.

use std::collections::BTreeMap;

use sandgate_core::{ContainerId, LeaseState, OnEnd, Registry};
use serde_json::json;

use super::*;
use crate::containers::tests::container;
use crate::testing::{ann, count, store};

fn lease(id: &str, container: &str) -> Lease {
    Lease {
        id: id.to_owned(),
        door: "e2b".to_owned(),
        owner: ann(),
        container: ContainerId::parse(container).unwrap(),
        metadata: BTreeMap::from([("name".to_owned(), "ž & co".to_owned())]),
        started_ms: 1,
        ends_ms: Some(2),
        on_end: OnEnd::Pause,
        wakes: true,
        ends_paused: false,
        files_only: false,
        state: LeaseState::Running,
        details: json!({"template": "base"}),
        parsed: sandgate_core::Parsed::default(),
    }
}

#[tokio::test]
async fn leases_are_saved_changed_and_removed() {
    let (home, store) = store().await;
    store.save(&container("cntr_a")).await.unwrap();
    let (mut first, second) = (lease("a", "cntr_a"), lease("b", "cntr_a"));
    store.save_lease(&first).await.unwrap();
    store.save_lease(&second).await.unwrap();
    (first.state, first.ends_ms) = (LeaseState::Paused, None);
    store.save_lease(&first).await.unwrap();
    drop(store);
    let store = Store::open(home.path()).await.unwrap();
    assert_eq!(store.leases().await.unwrap(), [first, second.clone()]);
    store.remove_lease("a").await.unwrap();
    store.remove_lease("a").await.unwrap();
    assert_eq!(store.leases().await.unwrap(), [second]);
}

#[tokio::test]
async fn a_lease_goes_with_its_container_but_not_with_a_change_of_it() {
    let (_home, store) = store().await;
    let mut record = container("cntr_a");
    store.save(&record).await.unwrap();
    store.save_lease(&lease("a", "cntr_a")).await.unwrap();
    record.last_active_at = 99;
    store.save(&record).await.unwrap();
    assert_eq!(store.leases().await.unwrap().len(), 1);
    store.remove(&record.id).await.unwrap();
    assert!(store.leases().await.unwrap().is_empty());
    assert!(store.save_lease(&lease("b", "cntr_a")).await.is_err());
}

#[tokio::test]
async fn one_that_cannot_be_read_does_not_hide_the_others() {
    let (_home, store) = store().await;
    store.save(&container("cntr_a")).await.unwrap();
    store.save_lease(&lease("good", "cntr_a")).await.unwrap();
    let text = "INSERT INTO leases (id, container, record) VALUES ('bad', 'cntr_a', '{}')";
    store.write(move |transaction| Ok(transaction.execute(text, [])?)).await.unwrap();
    assert_eq!(store.leases().await.unwrap(), [lease("good", "cntr_a")]);
    assert_eq!(count(&store, "leases").await, 2);
}
