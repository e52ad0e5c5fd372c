//! What is kept is found again by its hash; the longest unused goes when there is no more room.

use std::sync::Arc;

use super::super::hash::{Hash, Hasher};
use super::Store;

fn hash_of(content: &[u8]) -> Hash {
    let mut hasher = Hasher::like(Hash::Sha256([0; 32]));
    hasher.update(content);
    hasher.finish()
}

fn open(folder: &std::path::Path) -> Arc<Store> {
    Arc::new(Store::open(folder, 250).unwrap())
}

async fn put(store: &Arc<Store>, content: &[u8]) -> Hash {
    let mut draft = store.draft().await.unwrap();
    draft.write(content).await.unwrap();
    draft.keep(&hash_of(content).to_string()).await.unwrap();
    hash_of(content)
}

#[tokio::test]
async fn the_longest_unused_goes_first() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let first = put(&store, &[1; 100]).await;
    let second = put(&store, &[2; 100]).await;
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    for (hash, when) in [(first, old), (second, old - std::time::Duration::from_secs(60))] {
        let file = std::fs::File::open(folder.path().join(hash.to_string())).unwrap();
        file.set_modified(when).unwrap();
    }
    assert!(store.get(&second.to_string()).await.is_some(), "used just now");
    let third = put(&store, &[3; 100]).await;
    assert!(store.get(&first.to_string()).await.is_none());
    assert!(store.get(&second.to_string()).await.is_some() && store.get(&third.to_string()).await.is_some());
}

#[tokio::test]
async fn drafts_of_an_earlier_run_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("draft-1-0"), "x").unwrap();
    let store = open(folder.path());
    let kept = put(&store, b"content").await;
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let again = open(folder.path());
    assert!(again.get(&kept.to_string()).await.is_some());
}

#[tokio::test]
async fn drafts_are_bounded_together_and_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let (mut first, mut second) = (store.draft().await.unwrap(), store.draft().await.unwrap());
    first.write(&[1; 200]).await.unwrap();
    assert!(second.write(&[2; 100]).await.is_err(), "more than there is room for");
    drop((first, second));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    put(&store, &[3; 200]).await;
}

#[tokio::test]
async fn nothing_is_written_into_what_is_left_to_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(Store { short: |_| true, ..Store::open(folder.path(), 250).unwrap() });
    let mut draft = store.draft().await.unwrap();
    assert!(draft.write(b"content").await.is_err());
    drop(draft);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Many make room and keep at once, and drafts come and go meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_vanishes_while_room_is_made_spoils_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let putting = (0..64_u8).map(|number| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let content = vec![number; 3];
            let mut draft = store.draft().await.unwrap();
            draft.write(&content).await.unwrap();
            drop(store.draft().await.unwrap());
            store.make_room().unwrap();
            draft.keep(&hash_of(&content).to_string()).await.unwrap();
        })
    });
    for put in putting.collect::<Vec<_>>() {
        put.await.unwrap();
    }
    std::os::unix::fs::symlink("nowhere", folder.path().join("draft-link")).unwrap();
    assert!(store.make_room().is_ok());
}
