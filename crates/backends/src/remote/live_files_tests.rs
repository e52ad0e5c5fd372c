//! Changes of files while the sandbox that they are in comes and goes.

use std::time::Duration;

use sandgate_core::{Backend, Sandbox};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use super::*;
use crate::remote::RemoteBackend;
use crate::remote::double::{Account, made, run, spec};

async fn there() -> (Account, TempDir, RemoteBackend, Arc<dyn Sandbox>) {
    let (account, home) = (Account::default(), tempfile::tempdir().unwrap());
    let backend = account.backend("far", home.path()).await;
    let sandbox = made(&backend).await;
    run(&sandbox, "write /mnt/data/a one").await.unwrap();
    (account, home, backend, sandbox)
}

fn path(text: &str) -> SandboxPath {
    SandboxPath::parse(text).unwrap()
}

async fn until(account: &Account, what: &'static str, count: usize) {
    while account.calls(what) < count {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

async fn names(sandbox: &Arc<dyn Sandbox>) -> Vec<String> {
    let listed = sandbox.files().list(&path("/mnt/data"), 9).await.unwrap();
    listed.into_iter().map(|stat| stat.path).collect()
}

/// The change is under way at a sandbox that goes, and another is made and filled before it hears of that.
async fn replaced_meanwhile(
    account: &Account,
    sandbox: &Arc<dyn Sandbox>,
    what: &'static str,
    change: JoinHandle<()>,
) {
    until(account, what, 1).await;
    account.table().places.clear();
    let (executed, other) = (account.calls("execute"), Arc::clone(sandbox));
    // Its end waits for the change.
    let running = tokio::spawn(async move { run(&other, "say hi").await.unwrap() });
    until(account, "execute", executed + 2).await;
    account.only(|place| assert_eq!(place.files.keys().collect::<Vec<_>>(), ["/mnt/data/a"]));
    account.release(what);
    change.await.unwrap();
    running.await.unwrap();
    run(sandbox, "say hi").await.unwrap();
}

#[tokio::test]
async fn an_upload_under_way_while_its_sandbox_is_replaced_is_in_the_next_one() {
    let (account, _home, _backend, sandbox) = there().await;
    account.hold("write");
    let files = sandbox.files();
    let upload = tokio::spawn(async move {
        files.write(&path("/mnt/data/b"), &mut "two".as_bytes()).await.unwrap();
    });
    // Its own filling must not wait with it.
    until(&account, "write", 1).await;
    account.hold_no_more("write");
    replaced_meanwhile(&account, &sandbox, "write", upload).await;
    assert_eq!(names(&sandbox).await, ["/mnt/data/a", "/mnt/data/b"]);
    account.only(|place| assert_eq!(place.files.get("/mnt/data/b").map(Vec::as_slice), Some(&b"two"[..])));
}

#[tokio::test]
async fn a_removal_under_way_while_its_sandbox_is_replaced_is_done_in_the_next_one() {
    let (account, _home, _backend, sandbox) = there().await;
    account.hold("remove");
    let files = sandbox.files();
    let removal = tokio::spawn(async move { files.remove(&path("/mnt/data/a")).await.unwrap() });
    replaced_meanwhile(&account, &sandbox, "remove", removal).await;
    assert_eq!(names(&sandbox).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_move_under_way_while_its_sandbox_is_replaced_is_done_in_the_next_one() {
    let (account, _home, _backend, sandbox) = there().await;
    account.hold("rename");
    let files = sandbox.files();
    let moving = tokio::spawn(async move {
        files.rename(&path("/mnt/data/a"), &path("/mnt/data/z")).await.unwrap();
    });
    replaced_meanwhile(&account, &sandbox, "rename", moving).await;
    assert_eq!(names(&sandbox).await, ["/mnt/data/z"]);
}

#[tokio::test]
async fn an_upload_to_a_sandbox_that_is_gone_waits_for_the_next_one() {
    let (account, _home, _backend, sandbox) = there().await;
    account.table().places.clear();
    sandbox.files().write(&path("/mnt/data/b"), &mut "two".as_bytes()).await.unwrap();
    assert_eq!(account.calls("create"), 1);
    run(&sandbox, "say hi").await.unwrap();
    assert_eq!(names(&sandbox).await, ["/mnt/data/a", "/mnt/data/b"]);
}

#[tokio::test]
async fn who_held_the_files_of_a_sandbox_that_slept_has_those_of_the_next_one() {
    let (account, _home, backend, sandbox) = there().await;
    let files = sandbox.files();
    sandbox.stop().await.unwrap();
    let sandbox = backend.revive(sandbox.id(), spec()).await.unwrap();
    files.write(&path("/mnt/data/b"), &mut "two".as_bytes()).await.unwrap();
    run(&sandbox, "say hi").await.unwrap();
    assert_eq!(names(&sandbox).await, ["/mnt/data/a", "/mnt/data/b"]);
    account.only(|place| assert_eq!(place.files.len(), 2));
}

#[tokio::test]
async fn an_upload_during_the_last_look_is_not_taken_for_removed() {
    let (account, _home, backend, sandbox) = there().await;
    account.hold("list");
    let (before, stopping) = (account.calls("list"), Arc::clone(&sandbox));
    let stopped = tokio::spawn(async move { stopping.stop().await.unwrap() });
    until(&account, "list", before + 1).await;
    let files = sandbox.files();
    let upload = tokio::spawn(async move {
        files.write(&path("/mnt/data/b"), &mut "two".as_bytes()).await.unwrap();
    });
    tokio::time::sleep(Duration::from_millis(20)).await;
    account.hold_no_more("list");
    account.release("list");
    upload.await.unwrap();
    stopped.await.unwrap();
    let sandbox = backend.revive(sandbox.id(), spec()).await.unwrap();
    assert_eq!(names(&sandbox).await, ["/mnt/data/a", "/mnt/data/b"]);
}
