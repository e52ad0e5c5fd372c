//! Pages in both directions. All entries have the same second, so only the order of arrival tells them apart.

use crate::testing::{after, ann, bob, ids, item, response, store};
use crate::{ItemRecord, Page, Store, StoreError};

async fn seven() -> (tempfile::TempDir, Store) {
    let (home, store) = store().await;
    // Ids against the order of arrival.
    let items: Vec<ItemRecord> = (1..=7).rev().map(|number| item(&format!("msg_{number}"))).collect();
    store.save_response(&response("resp", &ann()), &items, &[item("msg_out")]).await.unwrap();
    (home, store)
}

async fn listed(store: &Store, page: &Page) -> (String, bool) {
    let listed = store.input_items(&ann(), "resp", page).await.unwrap();
    (ids(&listed.data).join(" ").replace("msg_", ""), listed.has_more)
}

fn page(limit: usize, descending: bool, after: Option<&str>, before: Option<&str>) -> Page {
    Page { limit, descending, after: after.map(str::to_owned), before: before.map(str::to_owned) }
}

#[tokio::test]
async fn forward_by_after() {
    let (_home, store) = seven().await;
    assert_eq!(listed(&store, &page(3, false, None, None)).await, ("7 6 5".to_owned(), true));
    assert_eq!(listed(&store, &page(3, false, Some("msg_5"), None)).await, ("4 3 2".to_owned(), true));
    assert_eq!(listed(&store, &page(3, false, Some("msg_2"), None)).await, ("1".to_owned(), false));
    assert_eq!(listed(&store, &page(3, false, Some("msg_1"), None)).await, (String::new(), false));
}

#[tokio::test]
async fn the_newest_first() {
    let (_home, store) = seven().await;
    assert_eq!(listed(&store, &page(3, true, None, None)).await, ("1 2 3".to_owned(), true));
    assert_eq!(listed(&store, &page(4, true, Some("msg_3"), None)).await, ("4 5 6 7".to_owned(), false));
}

#[tokio::test]
async fn the_page_right_before_an_entry() {
    let (_home, store) = seven().await;
    assert_eq!(listed(&store, &page(2, false, None, Some("msg_3"))).await, ("5 4".to_owned(), true));
    assert_eq!(listed(&store, &page(5, false, None, Some("msg_5"))).await, ("7 6".to_owned(), false));
    assert_eq!(listed(&store, &page(2, true, None, Some("msg_4"))).await, ("2 3".to_owned(), true));
}

#[tokio::test]
async fn between_two_entries() {
    let (_home, store) = seven().await;
    let between = page(2, false, Some("msg_6"), Some("msg_2"));
    assert_eq!(listed(&store, &between).await, ("5 4".to_owned(), true));
    let between = page(9, true, Some("msg_2"), Some("msg_6"));
    assert_eq!(listed(&store, &between).await, ("3 4 5".to_owned(), false));
}

#[tokio::test]
async fn limits_at_the_edges() {
    let (_home, store) = seven().await;
    assert!(!listed(&store, &page(7, false, None, None)).await.1);
    assert!(!listed(&store, &page(usize::MAX, false, None, None)).await.1);
    assert_eq!(listed(&store, &page(0, false, None, None)).await, (String::new(), true));
}

#[tokio::test]
async fn a_cursor_that_is_not_in_the_list_is_not_found() {
    let (_home, store) = seven().await;
    store.save_response(&response("resp_bob", &bob()), &[item("msg_bob")], &[]).await.unwrap();
    for cursor in ["msg_none", "msg_out", "msg_bob", ""] {
        let found = store.input_items(&ann(), "resp", &after(3, Some(cursor))).await;
        assert!(matches!(found, Err(StoreError::NotFound)), "{cursor}");
    }
}
