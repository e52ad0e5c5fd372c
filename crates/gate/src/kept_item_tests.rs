//! Items of conversations: short ones made whole, known ones found again.

use sandgate_store::ConversationRecord;
use serde_json::json;
use tempfile::TempDir;

use super::*;

async fn store() -> (TempDir, Store) {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    (home, store)
}

async fn kept(store: &Store, item: Value) -> Result<ItemRecord> {
    kept_item(store, &Owner::anonymous(), item, "items[0]").await
}

#[tokio::test]
async fn a_short_item_is_made_whole_for_lists_and_stays_short_for_the_model() {
    let (_home, store) = store().await;
    let message = json!({"role": "user", "content": "hi"});
    let made = kept(&store, message.clone()).await.unwrap();
    assert!(made.id.starts_with("msg_"), "{}", made.id);
    let whole = json!({
        "type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}],
        "status": "completed", "id": made.id,
    });
    assert_eq!(made.body, whole);
    assert_eq!(made.model, Some(vec![message]));

    let call = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"});
    let made = kept(&store, call).await.unwrap();
    assert_eq!((made.id.split('_').next(), &made.body["status"]), (Some("fc"), &json!("completed")));
    let unknown = json!({"type": "from_the_future", "id": "x_1", "y": 2});
    assert_eq!(kept(&store, unknown.clone()).await.unwrap().body, unknown);
}

#[tokio::test]
async fn a_code_call_is_a_function_call_for_the_model() {
    let (_home, store) = store().await;
    let call = json!({"type": "code_interpreter_call", "container_id": "cntr_1", "code": "1"});
    let made = kept(&store, call).await.unwrap();
    let kinds: Vec<_> = made.model.as_ref().unwrap().iter().map(kind).collect();
    assert_eq!(kinds, ["function_call", "function_call_output"]);
    assert_eq!((&made.body["outputs"], &made.body["status"]), (&Value::Null, &json!("completed")));
}

#[tokio::test]
async fn what_the_server_knows_better_is_taken_from_it() {
    let (_home, store) = store().await;
    let outputs = json!([{"type": "logs", "logs": "1"}]);
    let call =
        json!({"type": "code_interpreter_call", "container_id": "cntr_1", "code": "1", "outputs": outputs});
    let made = kept(&store, call.clone()).await.unwrap();
    let owner = Owner::anonymous();
    let conversation =
        ConversationRecord { id: "conv_1".to_owned(), owner, created_at: 0, metadata: json!({}) };
    store.create_conversation(&conversation, std::slice::from_ref(&made)).await.unwrap();

    let mut replayed = call;
    replayed["id"] = json!(made.id);
    replayed["outputs"] = Value::Null;
    assert_eq!(kept(&store, replayed).await.unwrap(), made);
    let named = json!({"type": "item_reference", "id": made.id});
    assert_eq!(kept(&store, named.clone()).await.unwrap(), made);
    let others = kept_item(&store, &Owner::of_key("other"), named, "items[0]").await.unwrap_err();
    assert_eq!(others.to_string(), format!("Item with id '{}' not found.", made.id));
}

#[tokio::test]
async fn tools_of_an_item_are_kept_without_secrets() {
    let (_home, store) = store().await;
    let policy = json!({"domain_secrets": [{"domain": "a.example", "name": "T", "value": "hidden-value"}]});
    let shell = json!({"type": "shell", "environment": {"network_policy": policy}});
    let made = kept(&store, json!({"type": "additional_tools", "tools": [shell]})).await.unwrap();
    assert!(!format!("{made:?}").contains("hidden-value"), "{made:?}");
}
