//! Conversations and their items.

use serde_json::json;

use crate::testing::{after, ann, bob, count, ids, item, item_saying, response, store};
use crate::{ConversationRecord, Store, StoreError};

fn conversation() -> ConversationRecord {
    ConversationRecord { id: "conv".to_owned(), owner: ann(), created_at: 5, metadata: json!({"a": "b"}) }
}

async fn with_items(items: &[&str]) -> (tempfile::TempDir, Store) {
    let (home, store) = store().await;
    let items: Vec<_> = items.iter().map(|id| item(id)).collect();
    store.create_conversation(&conversation(), &items).await.unwrap();
    (home, store)
}

#[tokio::test]
async fn it_is_made_read_and_changed() {
    let (home, store) = with_items(&["msg_1"]).await;
    assert_eq!(store.conversation(&ann(), "conv").await.unwrap(), conversation());
    let again = store.create_conversation(&conversation(), &[]).await;
    assert!(matches!(again, Err(StoreError::Exists)));
    let changed = store.set_metadata(&ann(), "conv", json!({"c": "d"})).await.unwrap();
    assert_eq!(changed.metadata, json!({"c": "d"}));
    drop(store);
    let store = Store::open(home.path()).await.unwrap();
    assert_eq!(store.conversation(&ann(), "conv").await.unwrap(), changed);
    assert_eq!(store.all_items(&ann(), "conv").await.unwrap(), [item("msg_1")]);
}

#[tokio::test]
async fn items_are_added_listed_and_taken_out() {
    let (_home, store) = with_items(&["msg_1", "msg_2"]).await;
    store.add_items(&ann(), "conv", &[item("msg_3"), item("msg_4")]).await.unwrap();
    let page = store.items(&ann(), "conv", &after(2, Some("msg_1"))).await.unwrap();
    assert_eq!((ids(&page.data), page.has_more), (vec!["msg_2", "msg_3"], true));
    assert_eq!(store.conversation_item(&ann(), "conv", "msg_3").await.unwrap(), item("msg_3"));
    store.delete_item(&ann(), "conv", "msg_2").await.unwrap();
    store.delete_item(&ann(), "conv", "msg_4").await.unwrap();
    assert!(matches!(store.delete_item(&ann(), "conv", "msg_4").await, Err(StoreError::NotFound)));
    store.add_items(&ann(), "conv", &[item("msg_5")]).await.unwrap();
    assert_eq!(ids(&store.all_items(&ann(), "conv").await.unwrap()), ["msg_1", "msg_3", "msg_5"]);
    assert_eq!(count(&store, "items").await, 3);
}

#[tokio::test]
async fn an_item_added_twice_keeps_its_place() {
    let (_home, store) = with_items(&["msg_1", "msg_2"]).await;
    let again = [item_saying("msg_1", "new"), item("msg_2"), item("msg_3")];
    store.add_items(&ann(), "conv", &again).await.unwrap();
    store.add_items(&ann(), "conv", &again).await.unwrap();
    assert_eq!(store.all_items(&ann(), "conv").await.unwrap(), again);
    assert_eq!(count(&store, "items").await, 3, "the earlier content is gone");
}

#[tokio::test]
async fn responses_keep_the_items_of_a_deleted_conversation() {
    let (_home, store) = with_items(&["msg_1", "msg_2"]).await;
    store.save_response(&response("resp_1", &ann()), &[item("msg_1")], &[]).await.unwrap();
    assert_eq!(count(&store, "items").await, 2, "shared, not copied");
    store.delete_conversation(&ann(), "conv").await.unwrap();
    assert!(matches!(store.conversation(&ann(), "conv").await, Err(StoreError::NotFound)));
    assert!(matches!(store.delete_conversation(&ann(), "conv").await, Err(StoreError::NotFound)));
    assert_eq!(store.history(&ann(), "resp_1").await.unwrap().0, [item("msg_1")]);
    assert!(matches!(store.item(&ann(), "msg_2").await, Err(StoreError::NotFound)));
}

#[tokio::test]
async fn another_owner_finds_nothing() {
    let (_home, store) = with_items(&["msg_1"]).await;
    let not_found = |result: Result<(), StoreError>| assert!(matches!(result, Err(StoreError::NotFound)));
    not_found(store.conversation(&bob(), "conv").await.map(drop));
    not_found(store.set_metadata(&bob(), "conv", json!({})).await.map(drop));
    not_found(store.add_items(&bob(), "conv", &[item("msg_2")]).await);
    not_found(store.items(&bob(), "conv", &after(9, None)).await.map(drop));
    not_found(store.all_items(&bob(), "conv").await.map(drop));
    not_found(store.conversation_item(&bob(), "conv", "msg_1").await.map(drop));
    not_found(store.delete_item(&bob(), "conv", "msg_1").await);
    not_found(store.delete_conversation(&bob(), "conv").await);
    assert_eq!(store.conversation(&ann(), "conv").await.unwrap(), conversation());
    assert_eq!(count(&store, "items").await, 1);
}
