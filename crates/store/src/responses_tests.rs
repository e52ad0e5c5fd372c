//! Responses: replaced, deleted, chained, and unknown to others.

use serde_json::json;

use crate::testing::{after, ann, bob, count, ids, item, response, store};
use crate::{ConversationRecord, ResponseRecord, StoreError};

fn following(id: &str, previous: &str) -> ResponseRecord {
    ResponseRecord { previous: Some(previous.to_owned()), ..response(id, &ann()) }
}

#[tokio::test]
async fn every_field_comes_back() {
    let (_home, store) = store().await;
    let record = ResponseRecord {
        background: true,
        previous: Some("resp_0".to_owned()),
        conversation: Some("conv_1".to_owned()),
        upstream_previous: Some("resp_up".to_owned()),
        ..response("resp_1", &ann())
    };
    store.save_response(&record, &[], &[]).await.unwrap();
    assert_eq!(store.response(&ann(), "resp_1").await.unwrap(), record);
}

#[tokio::test]
async fn a_later_state_takes_the_place_of_the_earlier() {
    let (_home, store) = store().await;
    let mut record = response("resp_1", &ann());
    record.status = "in_progress".to_owned();
    store.save_response(&record, &[item("msg_1")], &[item("msg_draft")]).await.unwrap();
    store.append_events("resp_1", &[(0, "created".to_owned())]).await.unwrap();
    record.status = "completed".to_owned();
    record.body = json!({"output": []});
    store.save_response(&record, &[item("msg_1")], &[item("msg_2"), item("msg_3")]).await.unwrap();
    assert_eq!(store.response(&ann(), "resp_1").await.unwrap(), record);
    assert_eq!(ids(&store.history(&ann(), "resp_1").await.unwrap().0), ["msg_1", "msg_2", "msg_3"]);
    assert_eq!(count(&store, "items").await, 3, "the draft is gone");
    assert_eq!(store.events_after("resp_1", None).await.unwrap().len(), 1, "the events stay");
}

#[tokio::test]
async fn another_owner_finds_nothing_and_changes_nothing() {
    let (_home, store) = store().await;
    store.save_response(&response("resp_1", &ann()), &[item("msg_1")], &[]).await.unwrap();
    assert!(matches!(store.response(&bob(), "resp_1").await, Err(StoreError::NotFound)));
    assert!(matches!(store.history(&bob(), "resp_1").await, Err(StoreError::NotFound)));
    let listed = store.input_items(&bob(), "resp_1", &after(9, None)).await;
    assert!(matches!(listed, Err(StoreError::NotFound)));
    assert!(matches!(store.delete_response(&bob(), "resp_1").await, Err(StoreError::NotFound)));
    let stolen = store.save_response(&response("resp_1", &bob()), &[], &[]).await;
    assert!(matches!(stolen, Err(StoreError::Exists)));
    assert_eq!(store.history(&ann(), "resp_1").await.unwrap().0, [item("msg_1")]);
}

#[tokio::test]
async fn deleting_takes_what_nothing_else_holds() {
    let (_home, store) = store().await;
    let inputs = [item("msg_own"), item("msg_other"), item("msg_conversation")];
    store.save_response(&response("resp_1", &ann()), &inputs, &[item("msg_out")]).await.unwrap();
    store.save_response(&response("resp_2", &ann()), &[item("msg_other")], &[]).await.unwrap();
    let conversation =
        ConversationRecord { id: "conv".to_owned(), owner: ann(), created_at: 1, metadata: json!({}) };
    store.create_conversation(&conversation, &[item("msg_conversation")]).await.unwrap();
    store.append_events("resp_1", &[(0, String::new())]).await.unwrap();

    store.delete_response(&ann(), "resp_1").await.unwrap();
    for gone in ["msg_own", "msg_out"] {
        assert!(matches!(store.item(&ann(), gone).await, Err(StoreError::NotFound)), "{gone}");
    }
    for left in ["msg_other", "msg_conversation"] {
        store.item(&ann(), left).await.unwrap();
    }
    assert_eq!(count(&store, "events").await, 0);
    assert_eq!(count(&store, "response_items").await, 1);
    assert!(matches!(store.delete_response(&ann(), "resp_1").await, Err(StoreError::NotFound)));
}

#[tokio::test]
async fn the_history_of_a_long_chain_is_in_order() {
    let (_home, store) = store().await;
    let mut oldest = response("resp_0", &ann());
    oldest.upstream_previous = Some("resp_upstream".to_owned());
    store.save_response(&oldest, &[item("in_0")], &[item("out_0")]).await.unwrap();
    for number in 1..500 {
        let record = following(&format!("resp_{number}"), &format!("resp_{}", number - 1));
        let (input, output) = (item(&format!("in_{number}")), item(&format!("out_{number}")));
        store.save_response(&record, &[input], &[output]).await.unwrap();
    }
    let (items, upstream) = store.history(&ann(), "resp_499").await.unwrap();
    let wanted: Vec<_> =
        (0..500).flat_map(|number| [format!("in_{number}"), format!("out_{number}")]).collect();
    assert_eq!(ids(&items), wanted);
    assert_eq!(upstream.as_deref(), Some("resp_upstream"));
}

#[tokio::test]
async fn a_chain_ends_at_a_deleted_link() {
    let (_home, store) = store().await;
    let mut oldest = response("resp_1", &ann());
    oldest.upstream_previous = Some("resp_upstream".to_owned());
    store.save_response(&oldest, &[item("msg_1")], &[]).await.unwrap();
    store.save_response(&following("resp_2", "resp_1"), &[item("msg_2")], &[]).await.unwrap();
    store.save_response(&following("resp_3", "resp_2"), &[item("msg_3")], &[]).await.unwrap();
    store.delete_response(&ann(), "resp_2").await.unwrap();
    assert_eq!(store.history(&ann(), "resp_3").await.unwrap(), (vec![item("msg_3")], None));
    assert!(matches!(store.history(&ann(), "resp_2").await, Err(StoreError::NotFound)));
}

#[tokio::test]
async fn a_chain_ends_at_another_owner_and_a_ring_ends_too() {
    let (_home, store) = store().await;
    store.save_response(&response("resp_bob", &bob()), &[item("msg_bob")], &[]).await.unwrap();
    store.save_response(&following("resp_1", "resp_bob"), &[item("msg_1")], &[]).await.unwrap();
    assert_eq!(store.history(&ann(), "resp_1").await.unwrap().0, [item("msg_1")]);
    store.save_response(&following("resp_2", "resp_1"), &[item("msg_2")], &[]).await.unwrap();
    store.save_response(&following("resp_1", "resp_2"), &[item("msg_1")], &[]).await.unwrap();
    assert_eq!(store.history(&ann(), "resp_2").await.unwrap().0, [item("msg_1"), item("msg_2")]);
}

#[tokio::test]
async fn only_background_responses_that_have_not_ended_are_unfinished() {
    let (_home, store) = store().await;
    for (id, background, status) in [
        ("resp_1", true, "in_progress"),
        ("resp_2", false, "in_progress"),
        ("resp_3", true, "completed"),
        ("resp_4", true, "queued"),
    ] {
        let record = ResponseRecord { background, status: status.to_owned(), ..response(id, &ann()) };
        store.save_response(&record, &[], &[]).await.unwrap();
    }
    let unfinished = store.unfinished_background().await.unwrap();
    let found: Vec<_> = unfinished.iter().map(|record| record.id.as_str()).collect();
    assert_eq!(found, ["resp_1", "resp_4"]);
}
