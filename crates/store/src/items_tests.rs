//! Items: shared, never rewritten, and gone with the last that holds them.

use serde_json::json;

use crate::testing::{ann, bob, count, item, item_saying, response, store};
use crate::{ItemRecord, StoreError};

#[tokio::test]
async fn an_item_comes_back_as_it_was() {
    let (_home, store) = store().await;
    let call = ItemRecord {
        id: "ci_1".to_owned(),
        body: json!({"type": "code_interpreter_call", "zeta": 1, "alpha": "\u{0}\u{1F600}\"", "outputs": []}),
        model: Some(vec![json!({"type": "function_call"}), json!({"type": "function_call_output"})]),
    };
    store.save_response(&response("resp_1", &ann()), &[], std::slice::from_ref(&call)).await.unwrap();
    let found = store.item(&ann(), "ci_1").await.unwrap();
    assert_eq!(found, call);
    assert_eq!(found.body.to_string(), call.body.to_string(), "keys keep their order");
}

#[tokio::test]
async fn the_same_item_is_stored_once() {
    let (_home, store) = store().await;
    for number in 0..5 {
        let record = response(&format!("resp_{number}"), &ann());
        store.save_response(&record, &[item("msg_1")], &[]).await.unwrap();
    }
    assert_eq!(count(&store, "items").await, 1);
}

#[tokio::test]
async fn an_id_sent_again_with_another_content_rewrites_no_history() {
    let (_home, store) = store().await;
    store.save_response(&response("resp_1", &ann()), &[], &[item_saying("ci_1", "whole")]).await.unwrap();
    store.save_response(&response("resp_2", &ann()), &[item_saying("ci_1", "cut")], &[]).await.unwrap();
    assert_eq!(store.history(&ann(), "resp_1").await.unwrap().0, [item_saying("ci_1", "whole")]);
    assert_eq!(store.history(&ann(), "resp_2").await.unwrap().0, [item_saying("ci_1", "cut")]);
    assert_eq!(store.item(&ann(), "ci_1").await.unwrap(), item_saying("ci_1", "whole"), "outputs go first");
    store.delete_response(&ann(), "resp_1").await.unwrap();
    assert_eq!(store.item(&ann(), "ci_1").await.unwrap(), item_saying("ci_1", "cut"));
}

#[tokio::test]
async fn what_differs_only_for_the_model_is_another_content() {
    let (_home, store) = store().await;
    let plain = item("ci_1");
    let seen = ItemRecord { model: Some(Vec::new()), ..plain.clone() };
    store.save_response(&response("resp_1", &ann()), &[plain], &[]).await.unwrap();
    store.save_response(&response("resp_2", &ann()), std::slice::from_ref(&seen), &[]).await.unwrap();
    assert_eq!(store.history(&ann(), "resp_2").await.unwrap().0, [seen]);
}

#[tokio::test]
async fn two_owners_may_have_the_same_item_id() {
    let (_home, store) = store().await;
    store.save_response(&response("resp_1", &ann()), &[item_saying("msg_1", "ann")], &[]).await.unwrap();
    assert!(matches!(store.item(&bob(), "msg_1").await, Err(StoreError::NotFound)));
    store.save_response(&response("resp_2", &bob()), &[item_saying("msg_1", "bob")], &[]).await.unwrap();
    assert_eq!(store.item(&ann(), "msg_1").await.unwrap(), item_saying("msg_1", "ann"));
    assert_eq!(store.item(&bob(), "msg_1").await.unwrap(), item_saying("msg_1", "bob"));
}

#[tokio::test]
async fn a_large_item_is_fine() {
    let (_home, store) = store().await;
    let large = item_saying("msg_1", &"x".repeat(30 << 20));
    store.save_response(&response("resp_1", &ann()), &[], std::slice::from_ref(&large)).await.unwrap();
    assert!(store.item(&ann(), "msg_1").await.unwrap() == large);
}
