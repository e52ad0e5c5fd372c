//! Who is kept alive, who is removed, and that one does not get in the way of another.

use super::*;
use crate::remote::double::{Account, made, spec};
use sandgate_core::Backend;

#[tokio::test]
async fn two_backends_on_one_account_leave_each_other_alone() {
    let (account, home) = (Account::default(), tempfile::tempdir().unwrap());
    let (one, two) = (account.backend("one", home.path()).await, account.backend("two", home.path()).await);
    made(&one).await;
    let of_two = made(&two).await;
    assert_eq!((one.reap().await.unwrap(), two.reap().await.unwrap()), (0, 0));
    assert_eq!(account.table().places.len(), 2);
    // What nobody knows of goes, and by its own backend alone.
    two.0.known().remove(of_two.id());
    assert_eq!(one.reap().await.unwrap(), 0);
    assert_eq!(two.reap().await.unwrap(), 1);
    assert_eq!(account.table().places.len(), 1);
}

#[tokio::test]
async fn one_that_was_found_again_is_not_reaped_whatever_was_known_of_it() {
    let (account, home) = (Account::default(), tempfile::tempdir().unwrap());
    let first = account.backend("one", home.path()).await;
    let id = made(&first).await.id().clone();
    let backend = account.backend("one", home.path()).await;
    backend.0.note(&id, |known| known.place = None);
    backend.revive(&id, spec()).await.unwrap();
    assert_eq!(backend.reap().await.unwrap(), 0);
    assert_eq!(account.table().places.len(), 1);
}

#[tokio::test]
async fn one_that_cannot_be_deleted_keeps_no_other() {
    let (account, home) = (Account::default(), tempfile::tempdir().unwrap());
    let backend = account.backend("one", home.path()).await;
    for _ in 0..3 {
        made(&backend).await;
    }
    backend.0.known().clear();
    account.table().stuck.insert("p1".to_owned());
    assert_eq!(backend.reap().await.unwrap(), 2);
    assert_eq!(account.table().places.keys().collect::<Vec<_>>(), ["p1"]);
}

#[tokio::test]
async fn who_is_being_made_holds_up_nobody() {
    let (account, home) = (Account::default(), tempfile::tempdir().unwrap());
    let backend = Arc::new(account.backend("one", home.path()).await);
    let lost = made(&backend).await;
    made(&backend).await;
    account.table().places.remove("p1");
    account.table().hangs.insert("create");
    // Its sandbox is found to be gone, and the new one is never ready.
    let hanging = tokio::spawn(async move { crate::remote::double::run(&lost, "say hi").await });
    while account.calls("create") < 3 {
        tokio::task::yield_now().await;
    }
    assert!(extend_all(&backend.0, Duration::from_secs(600)).await);
    assert_eq!(account.calls("extend"), 1);
    hanging.abort();
}
