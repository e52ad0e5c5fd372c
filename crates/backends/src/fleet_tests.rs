//! A check of the backends leaves nothing behind, whoever waits for it.

use super::*;
use crate::remote::double::{Account, spec};

async fn fleet(account: &Account, home: &std::path::Path) -> Arc<Fleet> {
    let mut fleet = Fleet::new("one".to_owned(), None);
    fleet.add(Arc::new(account.backend("one", home).await), Vec::new());
    Arc::new(fleet)
}

#[tokio::test]
async fn a_check_that_nobody_waits_for_removes_what_it_made() {
    let (account, home) = (Account::default(), tempfile::tempdir().unwrap());
    let fleet = fleet(&account, home.path()).await;
    account.table().hangs.insert("create_context");
    let check = FleetCheck { fleet: Arc::clone(&fleet), spec: spec() };
    let asked = tokio::spawn(async move { check.check_all().await });
    while account.calls("create_context") == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(account.table().places.len(), 1);
    asked.abort();
    assert!(asked.await.unwrap_err().is_cancelled());
    tokio::time::pause();
    while !account.table().places.is_empty() {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    while std::fs::read_dir(home.path().join("remote")).unwrap().count() > 0 {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

#[tokio::test]
async fn another_takes_its_place_in_an_outage_alone_and_not_for_who_is_pinned() {
    use crate::ProviderError;
    let home = tempfile::tempdir().unwrap();
    let (one, two) = (Account::default(), Account::default());
    let mut fleet = Fleet::new("one".to_owned(), None);
    fleet.add(Arc::new(one.backend("one", home.path()).await), vec!["two".to_owned()]);
    fleet.add(Arc::new(two.backend("two", home.path()).await), Vec::new());
    one.table().fails.insert("create", ProviderError::Refused { status: 400, message: "no".to_owned() });
    assert!(matches!(fleet.create(spec()).await, Err(BackendError::Invalid(_))));
    one.table().fails.insert("create", ProviderError::Unreachable("down".to_owned()));
    let pinned = SandboxSpec { pinned: true, ..spec() };
    assert!(matches!(fleet.create(pinned).await, Err(BackendError::Unavailable { .. })));
    assert_eq!(two.calls("create"), 0);
    assert_eq!(fleet.create(spec()).await.unwrap().backend(), Some("two"));
}
