//! What is in conversations, as clients of OpenAI's API know it.

use serde_json::json;

use super::super::test_client::{Client, client};
use super::*;

async fn with_conversation(items: Value) -> (Client, String) {
    let client = client().await;
    let made = client.post("/v1/conversations", json!({"items": items})).await.good();
    let path = format!("/v1/conversations/{}/items", made["id"].as_str().unwrap());
    (client, path)
}

#[tokio::test]
async fn short_items_are_listed_with_every_field() {
    let (client, path) = with_conversation(json!([{"role": "user", "content": "hi"}])).await;
    let listed = client.get(&path).await.good();
    let id = listed["data"][0]["id"].as_str().unwrap();
    assert!(id.starts_with("msg_") && id.len() == 54, "{id}");
    let message = json!({
        "type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}],
        "status": "completed", "id": id,
    });
    let expected =
        json!({"object": "list", "data": [message], "first_id": id, "last_id": id, "has_more": false});
    assert_eq!(listed, expected);
    assert_eq!(client.get(&format!("{path}/{id}")).await.good(), message);
}

#[tokio::test]
async fn items_are_added_paged_and_taken_out() {
    let (client, path) = with_conversation(json!([])).await;
    let items: Vec<Value> = (0..3).map(|n| json!({"role": "user", "content": n.to_string()})).collect();
    let added = client.post(&path, json!({"items": items})).await.good();
    assert_eq!((added["data"].as_array().unwrap().len(), &added["has_more"]), (3, &json!(false)));
    let all = client.get(&format!("{path}?order=asc")).await.good();
    assert_eq!(all["data"], added["data"]);
    let newest = client.get(&format!("{path}?limit=2")).await.good();
    assert_eq!((&newest["data"][0], &newest["has_more"]), (&added["data"][2], &json!(true)));
    let next = format!("{path}?limit=2&after={}", newest["last_id"].as_str().unwrap());
    assert_eq!(client.get(&next).await.good()["data"], json!([added["data"][0]]));

    let one = format!("{path}/{}", added["first_id"].as_str().unwrap());
    let conversation = client.delete(&one).await.good();
    assert_eq!(conversation["object"], "conversation");
    client.get(&one).await.refused(404, None, None);
    client.delete(&one).await.refused(404, None, None);
    assert_eq!(client.get(&path).await.good()["data"].as_array().unwrap().len(), 2);
    client.get(&format!("{path}?after=x")).await.refused(400, Some("after"), Some("invalid_value"));
    client.get("/v1/conversations/conv_x/items").await.refused(404, None, None);
    client.get("/v1/conversations/conv_x/items/msg_x").await.refused(404, None, None);
}

#[tokio::test]
async fn outputs_of_code_are_for_those_who_ask() {
    let outputs = json!([{"type": "logs", "logs": "1"}]);
    let call = json!({
        "type": "code_interpreter_call", "container_id": "cntr_1", "code": "1", "outputs": outputs,
    });
    let (client, path) = with_conversation(json!([call])).await;
    for query in ["include[]=", "include=", "include%5B%5D="] {
        let asked = format!("{path}?{query}code_interpreter_call.outputs");
        assert_eq!(client.get(&asked).await.good()["data"][0]["outputs"], outputs, "{query}");
    }
    let listed = client.get(&path).await.good();
    assert_eq!(listed["data"][0].get("outputs"), Some(&Value::Null));
    let one = format!("{path}/{}", listed["first_id"].as_str().unwrap());
    assert_eq!(client.get(&one).await.good().get("outputs"), Some(&Value::Null));
    let asked = format!("{one}?include[]=code_interpreter_call.outputs");
    assert_eq!(client.get(&asked).await.good()["outputs"], outputs);
}

#[tokio::test]
async fn an_item_can_be_named_instead_of_sent() {
    let (client, path) = with_conversation(json!([{"role": "user", "content": "hi"}])).await;
    let id = client.get(&path).await.good()["first_id"].clone();
    let other = client.post("/v1/conversations", json!({"items": [{"id": id}]})).await.good();
    let other = format!("/v1/conversations/{}/items", other["id"].as_str().unwrap());
    assert_eq!(client.get(&other).await.good(), client.get(&path).await.good());
    let unknown = json!({"items": [{"type": "item_reference", "id": "msg_x"}]});
    client.post(&path, unknown).await.refused(400, Some("items[0].id"), Some("item_not_found"));
}

#[tokio::test]
async fn items_that_make_no_sense_are_refused_by_name() {
    let (client, path) = with_conversation(json!([])).await;
    let missing = "missing_required_parameter";
    for (item, param, code) in [
        (json!("hi"), "items[0]", "invalid_type"),
        (json!({}), "items[0].type", missing),
        (json!({"type": 7}), "items[0].type", "invalid_type"),
        (json!({"id": 7, "type": "x"}), "items[0].id", "invalid_type"),
        (json!({"id": "", "type": "x"}), "items[0].id", "invalid_value"),
        (json!({"id": "x".repeat(129), "type": "x"}), "items[0].id", "invalid_value"),
        (json!({"type": "message", "content": ""}), "items[0].role", missing),
        (json!({"role": "user"}), "items[0].content", missing),
        (json!({"role": "user", "content": 7}), "items[0].content", "invalid_type"),
        (json!({"role": "user", "content": [7]}), "items[0].content[0].type", missing),
        (json!({"role": "king", "content": ""}), "items[0].role", "invalid_value"),
    ] {
        client.post(&path, json!({"items": [item]})).await.refused(400, Some(param), Some(code));
    }
    client.post(&path, json!({})).await.refused(400, Some("items"), Some(missing));
    client.post(&path, json!({"items": null})).await.refused(400, Some("items"), Some("invalid_type"));
    let many = vec![json!({"role": "user", "content": "x"}); 21];
    let refused = client.post(&path, json!({"items": many})).await;
    refused.refused(400, Some("items"), Some("array_above_max_length"));
    assert_eq!(client.get(&path).await.good()["data"], json!([]));
}
