//! Files: added, listed, opened, expired, deleted.

use tokio::io::AsyncReadExt;

use crate::testing::{after, ann, bob, count, store};
use crate::{FileRecord, Page, Store, StoreError};

async fn add(store: &Store, name: &str, purpose: &str, expires: Option<u64>) -> FileRecord {
    store.add_file(&ann(), name, purpose, expires, name.as_bytes(), 100).await.unwrap()
}

fn not_found<T: std::fmt::Debug>(result: Result<T, StoreError>) {
    assert!(matches!(result, Err(StoreError::NotFound)), "{result:?}");
}

#[tokio::test]
async fn a_file_is_there_with_its_content_after_reopening() {
    let (home, store) = store().await;
    let added = add(&store, "../data ü.csv", "assistants", Some(3600)).await;
    assert!(added.id.starts_with("file-") && added.id.len() == 27, "{}", added.id);
    assert_eq!((added.bytes, added.expires_at), (14, Some(added.created_at + 3600)));
    drop(store);
    let store = Store::open(home.path()).await.unwrap();
    assert_eq!(store.file(&ann(), &added.id).await.unwrap(), added);
    let (record, mut content) = store.open_file(&ann(), &added.id).await.unwrap();
    let mut text = String::new();
    content.read_to_string(&mut text).await.unwrap();
    assert_eq!((record, text.as_str()), (added, "../data ü.csv"));
}

#[tokio::test]
async fn files_are_listed_by_purpose_and_in_order() {
    let (_home, store) = store().await;
    for (name, purpose) in [("c", "assistants"), ("b", "vision"), ("a", "assistants"), ("d", "assistants")] {
        add(&store, name, purpose, None).await;
    }
    let names = |files: &[FileRecord]| files.iter().map(|file| file.filename.clone()).collect::<String>();
    let all = store.files(&ann(), None, &after(10, None)).await.unwrap();
    assert_eq!(names(&all.data), "cbad");
    let page = Page { descending: true, ..after(2, None) };
    let some = store.files(&ann(), Some("assistants"), &page).await.unwrap();
    assert_eq!((names(&some.data), some.has_more), ("da".to_owned(), true));
    let next = Page { after: Some(some.data[1].id.clone()), ..page };
    let rest = store.files(&ann(), Some("assistants"), &next).await.unwrap();
    assert_eq!((names(&rest.data), rest.has_more), ("c".to_owned(), false));
    assert!(store.files(&bob(), None, &after(10, None)).await.unwrap().data.is_empty());
    not_found(store.files(&bob(), None, &after(10, Some(&all.data[0].id))).await);
}

#[tokio::test]
async fn another_owner_finds_nothing() {
    let (_home, store) = store().await;
    let file = add(&store, "a", "assistants", None).await;
    not_found(store.file(&bob(), &file.id).await);
    not_found(store.open_file(&bob(), &file.id).await);
    not_found(store.delete_file(&bob(), &file.id).await);
    not_found(store.open_file(&ann(), "../sandgate.db").await);
    store.open_file(&ann(), &file.id).await.unwrap();
}

#[tokio::test]
async fn a_deleted_file_is_gone_with_its_content() {
    let (home, store) = store().await;
    let file = add(&store, "a", "assistants", None).await;
    let (_, mut opened) = store.open_file(&ann(), &file.id).await.unwrap();
    store.delete_file(&ann(), &file.id).await.unwrap();
    not_found(store.file(&ann(), &file.id).await);
    not_found(store.delete_file(&ann(), &file.id).await);
    assert!(!home.path().join("files").join(&file.id).exists());
    let mut text = String::new();
    opened.read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "a", "who has it open reads on");
}

#[tokio::test]
async fn an_expired_file_is_not_there_even_before_it_is_removed() {
    let (home, store) = store().await;
    let gone = add(&store, "a", "assistants", Some(0)).await;
    let kept = add(&store, "b", "assistants", Some(u64::MAX)).await;
    not_found(store.file(&ann(), &gone.id).await);
    not_found(store.open_file(&ann(), &gone.id).await);
    assert_eq!(store.files(&ann(), None, &after(10, None)).await.unwrap().data.len(), 1);
    assert_eq!(store.remove_expired_files().await.unwrap(), 1);
    assert_eq!(store.remove_expired_files().await.unwrap(), 0);
    assert!(!home.path().join("files").join(&gone.id).exists());
    store.open_file(&ann(), &kept.id).await.unwrap();
}

#[tokio::test]
async fn a_row_whose_content_is_missing_or_short_goes_at_the_next_opening() {
    let (home, store) = store().await;
    let missing = add(&store, "missing", "assistants", None).await;
    let short = add(&store, "short", "assistants", None).await;
    let kept = add(&store, "kept", "assistants", None).await;
    let files = home.path().join("files");
    std::fs::remove_file(files.join(&missing.id)).unwrap();
    std::fs::write(files.join(&short.id), "s").unwrap();
    not_found(store.open_file(&ann(), &missing.id).await);
    drop(store);
    let store = Store::open(home.path()).await.unwrap();
    not_found(store.file(&ann(), &missing.id).await);
    not_found(store.file(&ann(), &short.id).await);
    store.open_file(&ann(), &kept.id).await.unwrap();
    assert_eq!(count(&store, "files").await, 1);
    assert_eq!(std::fs::read_dir(files).unwrap().count(), 1);
}

#[tokio::test]
async fn a_staged_content_is_nobodys_file_until_it_is_kept() {
    let (home, store) = store().await;
    let contents = || std::fs::read_dir(home.path().join("files")).unwrap().count();
    let staged = store.stage_file(&b"abc"[..], 100).await.unwrap();
    assert_eq!((staged.bytes, contents()), (3, 1));
    assert!(store.files(&ann(), None, &after(10, None)).await.unwrap().data.is_empty());
    drop(staged);
    assert_eq!(contents(), 0);
    let staged = store.stage_file(&b"abc"[..], 100).await.unwrap();
    let kept = store.keep_file(staged, &ann(), "a", "vision", None).await.unwrap();
    assert_eq!(store.file(&ann(), &kept.id).await.unwrap(), kept);
}
