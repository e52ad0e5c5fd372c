//! Who may sign in, and for how long that holds.

use sandgate_core::{KeyLimits, Rank};
use sandgate_store::{NewKey, Store};

use super::Access;

async fn access(master: Option<&str>) -> (tempfile::TempDir, Store, Access) {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    let access = Access::new(store.clone(), master);
    (home, store, access)
}

#[tokio::test]
async fn the_master_key_and_keys_for_the_console_sign_in_and_others_do_not() {
    let (_home, store, access) = access(Some("master-of-this-server")).await;
    let new = |console| NewKey {
        name: "k".to_owned(),
        limits: KeyLimits { console, ..KeyLimits::default() },
        ..NewKey::default()
    };
    let (plain, plain_secret) = store.create_key(new(false)).await.unwrap();
    let (person, secret) = store.create_key(new(true)).await.unwrap();
    let rank = |found: Option<super::Principal>| found.map(|principal| principal.rank);

    assert_eq!(rank(access.operator("master-of-this-server").await.unwrap()), Some(Rank::Master));
    assert_eq!(rank(access.operator(secret.expose()).await.unwrap()), Some(Rank::Key(person.id.clone())));
    for wrong in ["", "master-of-this-serve", plain_secret.expose()] {
        assert_eq!(rank(access.operator(wrong).await.unwrap()), None);
    }

    let session = Rank::Key(person.id.clone());
    assert_eq!(rank(access.still_operator(&session).await.unwrap()), Some(session.clone()));
    store.revoke_key(&person.id).await.unwrap();
    assert_eq!(rank(access.still_operator(&session).await.unwrap()), None);
    assert_eq!(rank(access.still_operator(&Rank::Key(plain.id)).await.unwrap()), None);
    assert_eq!(rank(access.still_operator(&Rank::Open).await.unwrap()), None);
}

#[tokio::test]
async fn a_server_without_keys_is_open_until_it_has_one() {
    let (_home, store, access) = access(None).await;
    assert!(access.is_open().await.unwrap());
    assert!(access.still_operator(&Rank::Open).await.unwrap().is_some());
    assert!(access.still_operator(&Rank::Master).await.unwrap().is_none());
    assert!(access.operator("anything").await.unwrap().is_none());
    store.create_key(NewKey { name: "k".to_owned(), ..NewKey::default() }).await.unwrap();
    assert!(!access.is_open().await.unwrap());
    assert!(access.still_operator(&Rank::Open).await.unwrap().is_none());
}
