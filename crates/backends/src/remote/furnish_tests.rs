//! A provider that is quick is not waited for; one that was thought to be quick gets its time.

use sandgate_core::BackendError;

use crate::remote::double::{Account, made, run, spec};
use crate::{Furnished, ProviderError};
use sandgate_core::Backend;

async fn quick() -> (Account, tempfile::TempDir, crate::RemoteBackend) {
    let (account, home) = (Account::default(), tempfile::tempdir().unwrap());
    account.table().has_first = true;
    let backend = account.backend("far", home.path()).await;
    made(&backend).await;
    (account, home, backend)
}

#[tokio::test]
async fn who_was_quick_is_not_asked_for_its_folder_again() {
    let (account, _home, backend) = quick().await;
    account.table().hangs.insert("furnish");
    let sandbox = made(&backend).await;
    assert_eq!(run(&sandbox, "say hi").await.unwrap().stdout, "hi");
    assert_eq!(account.calls("create_context"), 0, "the interpreter that was there is used");
}

#[tokio::test]
async fn who_turns_out_to_have_no_folder_is_waited_for_and_not_trusted_again() {
    let (account, _home, backend) = quick().await;
    account.table().furnished = Some(Furnished::Later);
    let sandbox = made(&backend).await;
    assert_eq!(run(&sandbox, "say hi").await.unwrap().stdout, "hi");
    account.table().furnished = None;
    made(&backend).await;
    account.table().fails.insert("furnish", ProviderError::Failed("no folder".to_owned()));
    let refused = backend.create(spec()).await.map(|_| ());
    assert!(matches!(refused, Err(BackendError::Unavailable { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_failure_that_passes_is_no_reason_to_ask_from_then_on() {
    let (account, _home, backend) = quick().await;
    account.table().fails.insert("execute", ProviderError::Failed("502 bad gateway".to_owned()));
    let before = account.calls("furnish");
    made(&backend).await;
    while account.calls("furnish") == before {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    account.table().fails.clear();
    account.table().hangs.insert("furnish");
    let sandbox = made(&backend).await;
    assert_eq!(run(&sandbox, "say hi").await.unwrap().stdout, "hi");
}

#[tokio::test]
async fn what_cannot_be_furnished_is_deleted() {
    let (account, home) = (Account::default(), tempfile::tempdir().unwrap());
    let backend = account.backend("far", home.path()).await;
    account.table().fails.insert("furnish", ProviderError::Failed("no folder".to_owned()));
    assert!(backend.create(spec()).await.is_err());
    assert!(account.table().places.is_empty());
    let kept = std::fs::read_dir(home.path().join("remote")).unwrap().count();
    assert_eq!(kept, 0, "nothing is written down of it either");
}

#[tokio::test]
async fn who_uses_what_could_not_be_furnished_behind_its_back_gets_another() {
    let (account, _home, backend) = quick().await;
    let before = account.table().places.len();
    account.table().furnished = Some(Furnished::Later);
    account.table().fails.insert("furnish", ProviderError::Failed("no folder".to_owned()));
    let sandbox = made(&backend).await;
    assert!(
        run(&sandbox, "say hi").await.is_err(),
        "it is nowhere, and a new one cannot be furnished either"
    );
    assert_eq!(account.table().places.len(), before, "what was made for it is deleted");
    account.table().fails.clear();
    assert_eq!(run(&sandbox, "say hi").await.unwrap().stdout, "hi");
    assert_eq!(account.table().places.len(), before + 1);
}

#[tokio::test]
async fn a_provider_whose_sandboxes_cannot_be_used_is_down() {
    let (account, home) = (Account::default(), tempfile::tempdir().unwrap());
    let backend = account.backend("far", home.path()).await;
    account.table().fails.insert("furnish", ProviderError::Unreachable("no answer".to_owned()));
    for _ in 0..3 {
        assert!(backend.is_healthy());
        assert!(backend.create(spec()).await.is_err());
    }
    assert!(!backend.is_healthy(), "that it makes and deletes them does not make it well");
    assert!(account.table().places.is_empty());
}

#[tokio::test]
async fn a_sandbox_that_is_being_filled_is_not_yet_the_one_that_is_found_again() {
    let (account, home) = (Account::default(), tempfile::tempdir().unwrap());
    let backend = account.backend("far", home.path()).await;
    let sandbox = made(&backend).await;
    run(&sandbox, "write /mnt/data/a one").await.unwrap();
    account.table().places.clear();
    account.table().hangs.insert("write");
    let id = sandbox.id().to_string();
    let running = tokio::spawn(async move { run(&sandbox, "say hi").await });
    while account.calls("write") == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let record = std::fs::read_to_string(home.path().join("remote").join(id).join("place.json")).unwrap();
    assert!(!record.contains("p2"), "a gate that starts now would take the file for removed: {record}");
    running.abort();
}

#[tokio::test]
async fn what_is_not_wanted_any_more_is_not_furnished_to_the_end() {
    let (account, _home, backend) = quick().await;
    let before = account.table().places.len();
    account.table().hangs.insert("execute");
    let sandbox = made(&backend).await;
    let deleted = tokio::time::timeout(std::time::Duration::from_secs(5), backend.delete(sandbox.id()));
    deleted.await.expect("nobody waits for an interpreter that does not begin").unwrap();
    assert_eq!(account.table().places.len(), before);
}
