//! The conversation in front of the model, however the client names it.

use sandgate_core::Owner;
use sandgate_store::{ConversationRecord, ItemRecord, ResponseRecord, Store};
use serde_json::{Value, json};

use super::History;
use crate::error::GateError;
use crate::request::CreateRequest;

struct Setup {
    _home: tempfile::TempDir,
    store: Store,
    owner: Owner,
}

async fn setup() -> Setup {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    let owner = Owner::anonymous();
    let input = ItemRecord {
        id: "msg_in".into(),
        body: json!({"type": "message", "id": "msg_in", "role": "user", "content": []}),
        model: Some(vec![json!({"role": "user", "content": "go"})]),
    };
    let call = ItemRecord {
        id: "ci_1".into(),
        body: json!({"type": "code_interpreter_call", "id": "ci_1", "code": "1+1", "container_id": "cntr_a",
            "outputs": [{"type": "logs", "logs": "2"}], "status": "completed"}),
        model: Some(vec![
            json!({"type": "function_call", "call_id": "call_x"}),
            json!({"type": "function_call_output", "call_id": "call_x", "output": "2"}),
        ]),
    };
    let response = ResponseRecord {
        id: "resp_1".into(),
        owner: owner.clone(),
        created_at: 1,
        status: "completed".into(),
        background: false,
        body: json!({}),
        previous: None,
        conversation: None,
        upstream_previous: None,
    };
    store.save_response(&response, &[input], std::slice::from_ref(&call)).await.unwrap();
    let conversation =
        ConversationRecord { id: "conv_1".into(), owner: owner.clone(), created_at: 1, metadata: json!({}) };
    store.create_conversation(&conversation, &[call]).await.unwrap();
    Setup { _home: home, store, owner }
}

impl Setup {
    async fn gather(&self, body: Value, remembers: bool) -> Result<History, GateError> {
        let Value::Object(mut body) = body else { panic!() };
        body.insert("model".into(), json!("m"));
        let request = CreateRequest::parse(body).unwrap();
        History::gather(&self.store, &self.owner, &request, remembers).await
    }
}

fn kinds(history: &History) -> Vec<&str> {
    history.model.iter().map(super::kind).collect()
}

#[tokio::test]
async fn an_earlier_response_is_recalled_as_the_model_saw_it() {
    let setup = setup().await;
    let history =
        setup.gather(json!({"previous_response_id": "resp_1", "input": "more"}), false).await.unwrap();
    assert_eq!(kinds(&history), ["message", "function_call", "function_call_output", "message"]);
    assert_eq!(history.model[0], json!({"role": "user", "content": "go"}));
    assert_eq!(history.containers, ["cntr_a"]);
    assert_eq!(history.inputs.len(), 1);
    let history = setup.gather(json!({"conversation": "conv_1", "input": "more"}), false).await.unwrap();
    assert_eq!(kinds(&history), ["function_call", "function_call_output", "message"]);
}

#[tokio::test]
async fn replayed_calls_work_in_all_their_forms() {
    let setup = setup().await;
    let whole = json!({"type": "code_interpreter_call", "id": "ci_1", "code": "1+1", "container_id": "cntr_a",
        "outputs": [{"type": "logs", "logs": "2"}], "status": "completed"});
    let mut hidden = whole.clone();
    hidden["outputs"] = Value::Null;
    let mut without = whole.clone();
    without.as_object_mut().unwrap().remove("outputs");
    for form in [
        whole,
        hidden,
        without,
        json!({"type": "item_reference", "id": "ci_1"}),
        json!({"id": "ci_1"}),
        json!({"type": null, "id": "ci_1"}),
    ] {
        let history = setup.gather(json!({"input": [form]}), false).await.unwrap();
        assert_eq!(history.model[1]["output"], "2", "{form}");
        assert_eq!(history.containers, ["cntr_a"], "{form}");
        assert_eq!(history.inputs[0].id, "ci_1");
    }
}

#[tokio::test]
async fn a_call_of_another_server_is_made_up_again() {
    let setup = setup().await;
    let call = json!({"type": "code_interpreter_call", "id": "ci_other", "code": "print(1)",
        "container_id": "cntr_b", "outputs": [{"type": "logs", "logs": "1\n"}, {"type": "image", "url": "data:"}]});
    let history = setup.gather(json!({"input": [call]}), false).await.unwrap();
    assert_eq!(kinds(&history), ["function_call", "function_call_output"]);
    assert_eq!(history.model[0]["arguments"], "{\"code\":\"print(1)\"}");
    assert_eq!(history.model[0]["call_id"], history.model[1]["call_id"]);
    assert_eq!(history.model[1]["output"], "1\n[a figure was shown to the user]\n");
}

#[tokio::test]
async fn what_is_not_there_is_said_or_left_to_the_upstream() {
    let setup = setup().await;
    let unknown = json!({"previous_response_id": "resp_x", "input": "a"});
    assert!(matches!(setup.gather(unknown.clone(), false).await, Err(GateError::Invalid { .. })));
    let history = setup.gather(unknown, true).await.unwrap();
    assert_eq!(history.upstream_previous.as_deref(), Some("resp_x"));
    let missing = setup.gather(json!({"conversation": "conv_x"}), true).await;
    assert!(matches!(missing, Err(GateError::NotFound { .. })));
    let reference = json!({"input": [{"type": "item_reference", "id": "msg_x"}]});
    assert!(matches!(setup.gather(reference.clone(), false).await, Err(GateError::NotFound { .. })));
    assert_eq!(setup.gather(reference, true).await.unwrap().model.len(), 1);
    let bare = json!({"input": [{"id": "msg_x"}]});
    assert!(matches!(setup.gather(bare.clone(), false).await, Err(GateError::NotFound { .. })));
    assert_eq!(setup.gather(bare, true).await.unwrap().model, [json!({"id": "msg_x"})]);
}

#[tokio::test]
async fn a_message_sent_again_has_no_citations_of_ours() {
    let setup = setup().await;
    let citation = json!({"type": "container_file_citation", "container_id": "cntr_a", "file_id": "cfile_1",
        "filename": "a", "start_index": 0, "end_index": 0});
    let url = json!({"type": "url_citation", "url": "x", "title": "t", "start_index": 0, "end_index": 1});
    let message = json!({"type": "message", "id": "msg_new", "role": "assistant",
        "content": [{"type": "output_text", "text": "hi", "annotations": [citation, url]}]});
    let history = setup.gather(json!({"input": [message]}), false).await.unwrap();
    let part = &history.model[0]["content"][0];
    assert_eq!((&part["annotations"], &part["logprobs"]), (&json!([url]), &json!([])));
    assert_eq!(history.model[0]["status"], "completed");
}

#[tokio::test]
async fn tools_in_the_input_reach_the_model_whole_and_are_kept_without_secrets() {
    let setup = setup().await;
    let policy = json!({"type": "allowlist", "allowed_domains": ["a.example"],
        "domain_secrets": [{"domain": "a.example", "name": "TOKEN", "value": "hidden-value"}]});
    let shell = json!({"type": "shell", "environment": {"type": "container_auto", "network_policy": policy}});
    let item = json!({"type": "additional_tools", "role": "developer", "tools": [shell]});
    let history = setup.gather(json!({"input": [item]}), false).await.unwrap();
    assert_eq!(history.model, [item]);
    assert!(!format!("{:?}", history.inputs).contains("hidden-value"), "{:?}", history.inputs);
}
