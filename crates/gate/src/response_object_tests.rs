//! Whose words the response object has.

use serde_json::{Value, json};

use super::ResponseObject;
use crate::request::CreateRequest;

#[test]
fn the_client_hears_its_own_words() {
    let tools = json!([{"type": "code_interpreter", "container": {"type": "auto"}}]);
    let body = json!({"model": "m", "tools": tools, "tool_choice": "required", "instructions": "be brief",
        "metadata": {"a": "b"}, "max_tool_calls": 3});
    let Value::Object(body) = body else { panic!() };
    let request = CreateRequest::parse(body).unwrap();
    let mut object = ResponseObject::new("resp_1", &request);
    object.learn(
        Some(&json!({"id": "resp_upstream", "model": "m-2026", "tools": [{"type": "function"}], "store": false,
            "tool_choice": "auto", "service_tier": "default", "previous_response_id": "x", "max_tool_calls": 2,
            "usage": {"input_tokens": 1}, "status": "completed", "new_field": 7, "metadata": {"a": "b"}})),
        &request,
    );
    let seen = object.snapshot();
    assert_eq!(seen["id"], "resp_1");
    assert_eq!(seen["tools"], tools);
    assert_eq!(seen["tool_choice"], "required");
    assert_eq!(seen["model"], "m-2026");
    assert_eq!(seen["service_tier"], "default");
    assert_eq!(seen["store"], true);
    assert_eq!(seen["previous_response_id"], Value::Null);
    assert_eq!(seen["max_tool_calls"], 3);
    assert_eq!(seen["new_field"], 7);
    assert_eq!((&seen["status"], &seen["usage"]), (&json!("in_progress"), &Value::Null));
}

/// The upstream that runs such a tool needs the secrets; who reads the response does not.
#[test]
fn secrets_of_any_tool_go_on_and_are_not_said_back() {
    let policy = json!({"type": "allowlist", "allowed_domains": ["a.example"],
        "domain_secrets": [{"domain": "a.example", "name": "TOKEN", "value": "hidden-value"}]});
    let shell = json!({"type": "shell", "environment": {"type": "container_auto", "network_policy": policy}});
    let code = json!({"type": "code_interpreter", "container": {"type": "auto"}});
    let Value::Object(body) = json!({"model": "m", "tools": [shell, code]}) else { panic!() };
    let request = CreateRequest::parse(body).unwrap();
    assert_eq!(request.body["tools"][0], shell);
    let seen = ResponseObject::new("resp_1", &request).snapshot();
    assert!(!seen.to_string().contains("hidden-value"), "{seen}");
    let said = json!({"type": "allowlist", "allowed_domains": ["a.example"]});
    assert_eq!(seen["tools"][0]["environment"]["network_policy"], said);
}
