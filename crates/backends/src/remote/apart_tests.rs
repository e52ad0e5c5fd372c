//! What is changed at the gate while a sandbox lives on at the provider reaches it.

use std::sync::Arc;

use sandgate_core::{Backend, Files, SandboxId, SandboxPath};
use tempfile::TempDir;

use crate::remote::RemoteBackend;
use crate::remote::double::{Account, made, run, spec};
use crate::{ProviderError, remote::kept::Bounds};

use super::*;

fn path(text: &str) -> SandboxPath {
    SandboxPath::parse(text).unwrap()
}

/// A gate that was killed after a run, and its next start.
async fn after_a_crash(account: &Account, before: &str) -> (TempDir, RemoteBackend, SandboxId) {
    let home = tempfile::tempdir().unwrap();
    let first = account.backend("far", home.path()).await;
    let sandbox = made(&first).await;
    run(&sandbox, before).await.unwrap();
    let id = sandbox.id().clone();
    // Nothing is ended: what is forgotten is not dropped.
    std::mem::forget((first, sandbox));
    let again = account.backend("far", home.path()).await;
    (home, again, id)
}

async fn put(files: &Arc<dyn Files>, name: &str, text: &str) {
    files.write(&path(name), &mut text.as_bytes()).await.unwrap();
}

fn there(account: &Account) -> Vec<(String, String)> {
    let text = |content: &Vec<u8>| String::from_utf8(content.clone()).unwrap();
    account.only(|place| place.files.iter().map(|(path, content)| (path.clone(), text(content))).collect())
}

fn files(wanted: &[(&str, &str)]) -> Vec<(String, String)> {
    wanted.iter().map(|(path, text)| (format!("/mnt/data/{path}"), (*text).to_owned())).collect()
}

async fn names(files: &Arc<dyn Files>) -> Vec<String> {
    files.list(&path("/mnt/data"), 9).await.unwrap().into_iter().map(|stat| stat.path).collect()
}

#[tokio::test]
async fn an_upload_after_a_crash_reaches_the_sandbox_that_lived_on() {
    let account = Account::default();
    let (home, gate, id) = after_a_crash(&account, "write /mnt/data/a 1\nwrite /mnt/data/b 2").await;
    put(&gate.files(&id, &spec()).await.unwrap(), "/mnt/data/new", "upload").await;
    put(&gate.files(&id, &spec()).await.unwrap(), "/mnt/data/b", "newer").await;
    // It is known after one more crash, too.
    std::mem::forget(gate);
    let gate = account.backend("far", home.path()).await;
    let sandbox = gate.revive(&id, spec()).await.unwrap();
    assert_eq!(there(&account), files(&[("a", "1"), ("b", "newer"), ("new", "upload")]));
    run(&sandbox, "say hi").await.unwrap();
    assert_eq!(names(&sandbox.files()).await, ["/mnt/data/a", "/mnt/data/b", "/mnt/data/new"]);
    assert_eq!(account.calls("create"), 1, "it is the same sandbox");
    assert_eq!(gate.0.kept(&id, &spec().limits).await.unwrap().apart().await, None, "it is done once");
}

#[tokio::test]
async fn what_is_moved_or_removed_after_a_crash_does_not_come_back() {
    let account = Account::default();
    let before = "write /mnt/data/a 1\nwrite /mnt/data/b 2\nwrite /mnt/data/c/d 3\nwrite /mnt/data/c/e 4";
    let (_home, gate, id) = after_a_crash(&account, before).await;
    let held = gate.files(&id, &spec()).await.unwrap();
    held.remove(&path("/mnt/data/a")).await.unwrap();
    held.rename(&path("/mnt/data/b"), &path("/mnt/data/z")).await.unwrap();
    held.remove(&path("/mnt/data/c")).await.unwrap();
    put(&held, "/mnt/data/c", "a file now").await;
    // What code did there meanwhile is kept all the same.
    account.only(|place| place.files.insert("/mnt/data/own".to_owned(), b"code".to_vec()));
    let sandbox = gate.revive(&id, spec()).await.unwrap();
    let wanted = files(&[("c", "a file now"), ("own", "code"), ("z", "2")]);
    assert_eq!(there(&account), wanted);
    run(&sandbox, "say hi").await.unwrap();
    assert_eq!(names(&sandbox.files()).await, ["/mnt/data/c", "/mnt/data/own", "/mnt/data/z"]);
}

#[tokio::test]
async fn a_sandbox_that_was_lost_meanwhile_is_filled_with_all_of_it() {
    let account = Account::default();
    let (_home, gate, id) = after_a_crash(&account, "write /mnt/data/a 1").await;
    put(&gate.files(&id, &spec()).await.unwrap(), "/mnt/data/b", "2").await;
    account.table().places.clear();
    gate.revive(&id, spec()).await.unwrap();
    assert_eq!(there(&account), files(&[("a", "1"), ("b", "2")]));
    assert_eq!(gate.0.kept(&id, &spec().limits).await.unwrap().apart().await, None);
}

#[tokio::test]
async fn an_upload_that_the_sandbox_does_not_take_now_is_not_forgotten() {
    let account = Account::default();
    let (home, gate, id) = after_a_crash(&account, "write /mnt/data/a 1").await;
    put(&gate.files(&id, &spec()).await.unwrap(), "/mnt/data/b", "2").await;
    account.table().bad_files.insert("/mnt/data/b".to_owned(), ProviderError::Failed("500".to_owned()));
    let sandbox = gate.revive(&id, spec()).await.unwrap();
    let said = format!("{:?}", run(&sandbox, "say hi").await.unwrap());
    assert!(said.contains("/mnt/data/b"), "{said}");
    account.table().bad_files.clear();
    std::mem::forget((gate, sandbox));
    let gate = account.backend("far", home.path()).await;
    gate.revive(&id, spec()).await.unwrap();
    assert_eq!(there(&account), files(&[("a", "1"), ("b", "2")]));
}

#[tokio::test]
async fn who_held_the_files_of_a_sleeping_sandbox_has_those_of_the_living_one() {
    let account = Account::default();
    let (_home, gate, id) = after_a_crash(&account, "write /mnt/data/a 1").await;
    let held = gate.files(&id, &spec()).await.unwrap();
    let sandbox = gate.revive(&id, spec()).await.unwrap();
    put(&held, "/mnt/data/b", "2").await;
    held.remove(&path("/mnt/data/a")).await.unwrap();
    assert_eq!(there(&account), files(&[("b", "2")]));
    run(&sandbox, "say hi").await.unwrap();
    assert_eq!(names(&held).await, ["/mnt/data/b"]);
}

#[tokio::test]
async fn a_copy_of_files_has_no_sandbox_to_catch_up_with() {
    let folder = tempfile::tempdir().unwrap();
    let bounds = Bounds { bytes: 100, entries: 10 };
    let kept = Kept::open(folder.path().join("one"), bounds).await.unwrap();
    kept.part().await;
    kept.save().await.unwrap();
    assert_eq!(kept.apart().await, Some(Apart::default()));
    kept.copy_to(&folder.path().join("two")).await.unwrap();
    let copy = Kept::open(folder.path().join("two"), bounds).await.unwrap();
    assert_eq!(copy.apart().await, None);
}

#[tokio::test]
async fn a_file_where_a_folder_was_comes_after_that_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let kept = Kept::open(folder.path().to_owned(), Bounds { bytes: 100, entries: 10 }).await.unwrap();
    kept.make_folder("/mnt/data/c", 1).await.unwrap();
    kept.make_folder("/mnt/data/c/d", 1).await.unwrap();
    kept.make_folder("/mnt/data/e", 1).await.unwrap();
    kept.part().await;
    kept.forget("/mnt/data/c").await;
    let draft = kept.draft("/mnt/data/c", &mut "x".as_bytes()).await.unwrap();
    kept.put("/mnt/data/c", draft, 0o644, 1).await.unwrap();
    let apart = kept.apart().await.unwrap();
    assert_eq!(apart.removed, ["/mnt/data/c"]);
    assert_eq!(apart.put.keys().collect::<Vec<_>>(), ["/mnt/data/c"]);
}
