//! No place in a request from which code could run at the upstream.

use axum::response::IntoResponse;
use serde_json::{Value, json};

use super::{refuse_hosted, refuse_in_items};
use crate::test_http::Answer;

async fn param(fields: Value) -> Option<Value> {
    let error = refuse_hosted(fields.as_object().unwrap()).err()?;
    let answer = Answer::of(error.into_response()).await;
    assert_eq!(answer.status, 400);
    Some(answer.json()["error"]["param"].clone())
}

fn code() -> Value {
    json!({"type": "code_interpreter", "container": {"type": "auto"}})
}

#[tokio::test]
async fn the_code_tool_is_taken_in_its_own_place_only() {
    assert_eq!(param(json!({"tools": [code()], "input": "x"})).await, None);
    let item =
        |kind: &str, tools: Value| json!({"input": [{"role": "user"}, {"type": kind, "tools": tools}]});
    for kind in ["additional_tools", "tool_search_output"] {
        let function = json!({"type": "function", "name": "f"});
        assert_eq!(param(item(kind, json!([function]))).await, None);
        assert_eq!(param(item(kind, json!([function, code()]))).await, Some(json!("input[1].tools[1]")));
        let space = json!({"type": "namespace", "tools": [code()]});
        assert_eq!(param(item(kind, json!([space]))).await, Some(json!("input[1].tools[0].tools[0]")));
    }
    let space = json!({"tools": [code(), {"type": "namespace", "tools": [code()]}]});
    assert_eq!(param(space).await, Some(json!("tools[1].tools[0]")));
    assert!(refuse_in_items(&[json!({"tools": [code()]})], "items").is_err());
    for fields in
        [json!({}), json!({"tools": null, "input": [1, null, "x", {"tools": 1}]}), json!({"tools": 7})]
    {
        assert_eq!(param(fields).await, None);
    }
}

#[tokio::test]
async fn the_shell_runs_nowhere_but_at_the_client() {
    for environment in [json!(null), json!({"type": "local"})] {
        assert_eq!(param(json!({"tools": [{"type": "shell", "environment": environment}]})).await, None);
    }
    assert_eq!(param(json!({"tools": [{"type": "shell"}]})).await, None);
    for environment in [
        json!({"type": "container_auto"}),
        json!({"type": "container_reference", "container_id": "cntr_1"}),
        json!({}),
        json!("container_auto"),
    ] {
        let shell = json!({"type": "shell", "environment": environment});
        assert_eq!(param(json!({"tools": [{}, shell]})).await, Some(json!("tools[1].environment")));
        let brought = json!({"input": [{"type": "additional_tools", "tools": [shell]}]});
        assert_eq!(param(brought).await, Some(json!("input[0].tools[0].environment")));
    }
}
