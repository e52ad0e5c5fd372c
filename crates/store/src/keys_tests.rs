//! Keys are found by their digest, outlive their end, and are seen by every process at once.

use super::*;
use crate::testing::{after, store};

fn new(name: &str) -> NewKey {
    NewKey { name: name.to_owned(), ..NewKey::default() }
}

async fn find(store: &Store, secret: &str) -> KeyFound {
    store.find_key(hash_key(secret)).await.unwrap()
}

#[tokio::test]
async fn a_key_is_found_by_its_secret_which_is_nowhere() {
    let (home, store) = store().await;
    assert!(matches!(find(&store, "sg-x").await, KeyFound::NoKeys));
    let (record, secret) = store.create_key(new("ci")).await.unwrap();
    let text = secret.expose();
    assert!(text.starts_with("sg-") && text.len() == 46, "{}", text.len());
    assert!(text.starts_with(record.shown.trim_end_matches('…')) && record.shown.len() < 12);
    assert_eq!(record.owner.as_str(), record.id);
    match find(&store, text).await {
        KeyFound::Known(found) => assert_eq!(*found, record),
        other => panic!("{other:?}"),
    }
    assert!(matches!(find(&store, "sg-x").await, KeyFound::Unknown));
    assert!(!format!("{secret:?}{record:?}").contains(text));
    for file in ["sandgate.db", "sandgate.db-wal"] {
        let bytes = std::fs::read(home.path().join(file)).unwrap_or_default();
        assert!(!bytes.windows(text.len()).any(|window| window == text.as_bytes()), "{file}");
    }
}

#[tokio::test]
async fn a_revoked_key_stays_on_the_list() {
    let (_home, store) = store().await;
    let (record, secret) = store.create_key(new("a")).await.unwrap();
    let revoked = store.revoke_key(&record.id).await.unwrap();
    assert!(revoked.revoked_at.is_some());
    assert_eq!(store.revoke_key(&record.id).await.unwrap(), revoked);
    assert!(store.has_keys().await.unwrap());
    assert!(matches!(find(&store, secret.expose()).await, KeyFound::Known(key) if *key == revoked));
    assert!(matches!(store.revoke_key("key_none").await, Err(StoreError::NotFound)));
}

#[tokio::test]
async fn several_keys_may_act_for_one_owner() {
    let (_home, store) = store().await;
    let owner = Owner::from_stored("team".to_owned());
    for name in ["old", "new"] {
        let key = NewKey { owner: Some(owner.clone()), ..new(name) };
        assert_eq!(store.create_key(key).await.unwrap().0.owner, owner);
    }
    let listed = store.keys(&after(1, None)).await.unwrap();
    assert_eq!((listed.data[0].name.as_str(), listed.has_more), ("old", true));
}

#[tokio::test]
async fn limits_change_and_refused_changes_leave_no_trace() {
    let (_home, store) = store().await;
    let (record, _) = store.create_key(new("a")).await.unwrap();
    let limits = KeyLimits { containers: Some(2), ..KeyLimits::default() };
    let changed = store.change_key_limits(&record.id, move |_| Ok::<_, ()>(limits)).await.unwrap();
    assert_eq!(changed.unwrap().limits.containers, Some(2));
    let refused = store.change_key_limits(&record.id, |_| Err("no")).await.unwrap();
    assert_eq!(refused, Err("no"));
    assert_eq!(store.key(&record.id).await.unwrap().limits.containers, Some(2));
}

#[tokio::test]
async fn time_ends_a_key_and_its_use_is_noted() {
    let (_home, store) = store().await;
    let key = NewKey { expires_in_seconds: Some(0), ..new("short") };
    let (short, _) = store.create_key(key).await.unwrap();
    assert!(short.is_expired() && short.is_use_due());
    let forever = NewKey { expires_in_seconds: Some(u64::MAX), ..new("long") };
    let (long, _) = store.create_key(forever).await.unwrap();
    assert!(!store.key(&long.id).await.unwrap().is_expired());
    store.note_key_use(&long.id).await.unwrap();
    assert!(!store.key(&long.id).await.unwrap().is_use_due());
}

#[tokio::test]
async fn another_process_sees_it_at_once() {
    let (home, store) = store().await;
    let beside = Store::open_beside(home.path()).await.unwrap();
    let (record, secret) = beside.create_key(new("a")).await.unwrap();
    assert!(matches!(find(&store, secret.expose()).await, KeyFound::Known(_)));
    beside.revoke_key(&record.id).await.unwrap();
    assert!(matches!(find(&store, secret.expose()).await, KeyFound::Known(key) if key.revoked_at.is_some()));
}
