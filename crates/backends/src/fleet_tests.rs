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
