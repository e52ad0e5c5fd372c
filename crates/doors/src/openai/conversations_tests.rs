//! Conversations as clients of OpenAI's API know them.

use super::super::test_client::client;
use super::*;

#[tokio::test]
async fn a_conversation_is_made_changed_and_deleted() {
    let client = client().await;
    let made = client.post("/v1/conversations", json!({})).await.good();
    let id = made["id"].as_str().unwrap();
    assert!(id.starts_with("conv_") && id.len() == 55, "{id}");
    let expected =
        json!({"id": id, "object": "conversation", "created_at": made["created_at"], "metadata": {}});
    assert_eq!(made, expected);
    let path = format!("/v1/conversations/{id}");
    assert_eq!(client.get(&path).await.good(), expected);
    let changed = client.post(&path, json!({"metadata": {"topic": "x"}})).await.good();
    assert_eq!(changed["metadata"], json!({"topic": "x"}));
    assert_eq!(client.get(&path).await.good(), changed);
    let deleted = client.delete(&path).await.good();
    assert_eq!(deleted, json!({"id": id, "object": "conversation.deleted", "deleted": true}));
    let gone = client.get(&path).await.refused(404, None, None);
    assert_eq!(gone, format!("Conversation with id '{id}' not found."));
}

#[tokio::test]
async fn another_owners_conversation_does_not_exist() {
    let client = client().await;
    let made = client.post("/v1/conversations", json!({"items": [{"role": "user", "content": "hi"}]})).await;
    let path = format!("/v1/conversations/{}", made.good()["id"].as_str().unwrap());
    let items = format!("{path}/items");
    let body = Some(json!({"metadata": {}}));
    client.send_as("other", "GET", &path, None).await.refused(404, None, None);
    client.send_as("other", "POST", &path, body).await.refused(404, None, None);
    client.send_as("other", "DELETE", &path, None).await.refused(404, None, None);
    client.send_as("other", "GET", &items, None).await.refused(404, None, None);
    let body = Some(json!({"items": [{"role": "user", "content": "hi"}]}));
    client.send_as("other", "POST", &items, body).await.refused(404, None, None);
    assert_eq!(client.get(&items).await.good()["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn what_cannot_be_kept_is_refused_by_name() {
    let client = client().await;
    let many: serde_json::Map<String, Value> = (0..17).map(|n| (n.to_string(), json!(""))).collect();
    let long_key: serde_json::Map<String, Value> = [("k".repeat(65), json!(""))].into_iter().collect();
    for (body, param, code) in [
        (json!({"x": 1}), "x", "unknown_parameter"),
        (json!({"metadata": []}), "metadata", "invalid_type"),
        (json!({"metadata": many}), "metadata", "object_above_max_properties"),
        (json!({"metadata": {"k": 1}}), "metadata.k", "invalid_type"),
        (json!({"metadata": {"k": "v".repeat(513)}}), "metadata.k", "string_above_max_length"),
        (json!({"metadata": long_key}), "metadata", "string_above_max_length"),
        (json!({"items": {}}), "items", "invalid_type"),
    ] {
        client.post("/v1/conversations", body).await.refused(400, Some(param), Some(code));
    }
    let made = client.post("/v1/conversations", json!({"items": null, "metadata": null})).await.good();
    let path = format!("/v1/conversations/{}", made["id"].as_str().unwrap());
    let refused = client.post(&path, json!({})).await;
    refused.refused(400, Some("metadata"), Some("missing_required_parameter"));
}
