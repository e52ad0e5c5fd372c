//! What is kept is found again by its hash; the longest unused goes when there is no more room.

use tokio::io::AsyncWriteExt;

use super::{Hash, Hasher, Store};

fn hash_of(content: &[u8]) -> Hash {
    let mut hasher = Hasher::like(Hash::Sha256([0; 32]));
    hasher.update(content);
    hasher.finish()
}

async fn put(store: &Store, content: &[u8]) -> Hash {
    let (mut file, path) = store.draft().await.unwrap();
    file.write_all(content).await.unwrap();
    file.flush().await.unwrap();
    store.keep(&path, hash_of(content), content.len() as u64).await.unwrap();
    hash_of(content)
}

#[tokio::test]
async fn the_longest_unused_goes_first() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), 250).unwrap();
    let first = put(&store, &[1; 100]).await;
    let second = put(&store, &[2; 100]).await;
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    for (hash, when) in [(first, old), (second, old - std::time::Duration::from_secs(60))] {
        let file = std::fs::File::open(folder.path().join(hash.to_string())).unwrap();
        file.set_modified(when).unwrap();
    }
    assert!(store.get(second).await.is_some(), "used just now");
    let third = put(&store, &[3; 100]).await;
    assert!(store.get(first).await.is_none());
    assert!(store.get(second).await.is_some() && store.get(third).await.is_some());
}

#[tokio::test]
async fn drafts_of_an_earlier_run_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("draft-1-0"), "x").unwrap();
    let store = Store::open(folder.path(), 250).unwrap();
    let kept = put(&store, b"content").await;
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let again = Store::open(folder.path(), 250).unwrap();
    assert!(again.get(kept).await.is_some());
}

#[test]
fn hashes_are_read_as_they_are_written() {
    let hash = hash_of(b"x");
    assert_eq!(Hash::read(&hash.to_string()), Some(hash));
    let long = Hash::Sha512([7; 64]);
    assert_eq!(Hash::read(&long.to_string()), Some(long));
    for wrong in ["", "sha256-", "sha256-abc", "md5-00", "sha256-../../x", "sha512-ab"] {
        assert_eq!(Hash::read(wrong), None, "{wrong}");
    }
}
