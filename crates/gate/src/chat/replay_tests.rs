//! Answers of ours that a client sends back.

use std::collections::HashSet;

use sandgate_core::Owner;
use sandgate_store::{ItemRecord, Store};
use serde_json::{Map, Value, json};

use super::{call_ids, containers, expand, forget_code};

fn ran(id: &str) -> Value {
    json!({"container_id": "cntr_a", "files": [], "calls": [{"id": id, "code": "1/0", "status": "completed",
        "outputs": [{"type": "logs", "logs": "shown"}, {"type": "image", "url": "data:"}]}]})
}

fn messages() -> Vec<Value> {
    vec![
        json!({"role": "user", "content": "go"}),
        json!({"role": "assistant", "content": "done", "code_interpreter": ran("ci_1")}),
        json!({"role": "user", "content": "again"}),
        json!({"role": "assistant", "content": null, "code_interpreter": ran("ci_2"), "tool_calls": [{"id": "call_w"}]}),
        json!({"role": "tool", "tool_call_id": "call_w", "content": "sun"}),
        json!({"role": "assistant", "content": null, "code_interpreter": ran("ci_2")}),
    ]
}

async fn expanded(owner: &Owner) -> Vec<Value> {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    let model = vec![
        json!({"type": "function_call", "call_id": "call_x"}),
        json!({"type": "function_call_output", "call_id": "call_x", "output": "ZeroDivisionError"}),
    ];
    let record = ItemRecord { id: "ci_1".into(), body: json!({"id": "ci_1"}), model: Some(model) };
    store.keep_items(&Owner::anonymous(), &[record]).await.unwrap();
    let mut taken: HashSet<String> = call_ids(&messages());
    expand(messages(), "python", &mut taken, owner, &store).await.unwrap()
}

#[tokio::test]
async fn calls_come_back_as_the_model_made_them() {
    let all = expanded(&Owner::anonymous()).await;
    let roles: Vec<&str> = all.iter().map(|message| message["role"].as_str().unwrap()).collect();
    let expected = [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "assistant",
        "tool",
    ];
    assert_eq!(roles, expected);
    assert_eq!(all[1]["tool_calls"][0]["id"], "call_x");
    assert_eq!(
        all[1]["tool_calls"][0]["function"],
        json!({"name": "python", "arguments": "{\"code\":\"1/0\"}"})
    );
    assert_eq!(all[2], json!({"role": "tool", "tool_call_id": "call_x", "content": "ZeroDivisionError"}));
    assert_eq!(all[3], json!({"role": "assistant", "content": "done"}));
    // What was not kept is told from what the client was shown.
    assert_eq!(all[6]["content"], "shown\n[a figure was shown to the user]");
    assert_eq!(all[7]["tool_calls"], json!([{"id": "call_w"}]));
    assert_ne!(all[5]["tool_calls"][0]["id"], all[9]["tool_calls"][0]["id"]);
    assert!(!json!(all).to_string().contains("code_interpreter"));
}

#[tokio::test]
async fn what_another_owner_was_told_stays_with_that_owner() {
    let all = expanded(&Owner::of_key("somebody")).await;
    assert!(!json!(all).to_string().contains("ZeroDivisionError"));
}

#[test]
fn containers_are_found_and_the_field_can_be_forgotten() {
    assert_eq!(containers(&messages()).last().unwrap(), "cntr_a");
    let mut body = Map::from_iter([("messages".to_owned(), json!(messages()))]);
    assert!(forget_code(&mut body));
    assert!(!Value::Object(body.clone()).to_string().contains("code_interpreter"));
    assert!(!forget_code(&mut body));
}
