//! What a request may say, and the words for what it may not.

use serde_json::{Value, json};

use super::CreateRequest;
use crate::container_param::{AutoContainer, ContainerChoice};
use crate::error::GateError;

fn parse(body: Value) -> Result<CreateRequest, GateError> {
    let Value::Object(body) = body else { panic!("an object") };
    CreateRequest::parse(body)
}

fn refusal(body: Value) -> (String, Option<String>, Option<&'static str>) {
    match parse(body).unwrap_err() {
        GateError::Invalid { message, param, code } => (message, param, code),
        other => panic!("{other:?}"),
    }
}

#[test]
fn reads_the_tool() {
    let tools =
        json!([{"type": "function", "name": "f"}, {"type": "code_interpreter", "container": "cntr_1"}]);
    let tool = parse(json!({"model": "m", "tools": tools})).unwrap().code_tool.unwrap();
    assert_eq!((tool.index, tool.container), (1, ContainerChoice::Named("cntr_1".into())));

    let auto = json!({"type": "auto", "file_ids": ["file-1"], "memory_limit": "4g", "network_policy": null});
    let tools = json!([{"type": "code_interpreter", "container": auto}]);
    let tool = parse(json!({"model": "m", "tools": tools})).unwrap().code_tool.unwrap();
    let expected =
        AutoContainer { file_ids: vec!["file-1".into()], memory_limit: Some("4g".into()), network: None };
    assert_eq!(tool.container, ContainerChoice::Auto(expected));
}

#[test]
fn secrets_of_domains_are_taken_out_of_the_body() {
    let policy = json!({"type": "allowlist", "allowed_domains": ["a.example"],
        "domain_secrets": [{"domain": "a.example", "name": "TOKEN", "value": "hidden-value"}]});
    let auto = json!({"type": "auto", "network_policy": policy});
    let tools = json!([{"type": "code_interpreter", "container": auto}]);
    let request = parse(json!({"model": "m", "tools": tools})).unwrap();
    assert!(!format!("{request:?}").contains("hidden-value"));
    let said = json!({"type": "allowlist", "allowed_domains": ["a.example"]});
    assert_eq!(request.body["tools"][0]["container"]["network_policy"], said);
}

#[test]
fn names_what_is_wrong_as_the_original_does() {
    let with = |tool: Value| json!({"model": "m", "tools": [tool]});
    let (message, param, code) = refusal(with(json!({"type": "code_interpreter"})));
    assert_eq!(message, "Missing required parameter: 'tools[0].container'.");
    assert_eq!((param.as_deref(), code), (Some("tools[0].container"), Some("missing_required_parameter")));

    let tool = json!({"type": "code_interpreter", "container": {"type": "auto", "files": []}});
    let (message, _, code) = refusal(with(tool));
    assert_eq!(message, "Unknown parameter: 'tools[0].container.files'.");
    assert_eq!(code, Some("unknown_parameter"));

    let tool = json!({"type": "code_interpreter", "container": {"type": "local"}});
    assert_eq!(refusal(with(tool)).1.as_deref(), Some("tools[0].container.type"));
    let tool = json!({"type": "code_interpreter", "container": {"type": "auto", "memory_limit": "2g"}});
    assert!(refusal(with(tool)).0.contains("'1g', '4g', '16g', and '64g'"));
    let policy = json!({"type": "allowlist", "allowed_domains": ["*"]});
    let tool = json!({"type": "code_interpreter", "container": {"type": "auto", "network_policy": policy}});
    let at = "tools[0].container.network_policy.allowed_domains[0]";
    assert_eq!(refusal(with(tool)).1.as_deref(), Some(at));
    let many: Vec<String> = (0..51).map(|n| format!("file-{n}")).collect();
    let tool = json!({"type": "code_interpreter", "container": {"type": "auto", "file_ids": many}});
    assert_eq!(refusal(with(tool)).2, Some("array_above_max_length"));
}

#[test]
fn names_fields_of_the_wrong_type() {
    for (body, param) in [
        (json!({}), "model"),
        (json!({"model": "m", "stream": "yes"}), "stream"),
        (json!({"model": "m", "tools": {}}), "tools"),
        (json!({"model": "m", "include": ["a", 1]}), "include[1]"),
        (json!({"model": "m", "max_tool_calls": -1}), "max_tool_calls"),
        (json!({"model": "m", "previous_response_id": "r", "conversation": "c"}), "previous_response_id"),
        (json!({"model": "m", "conversation": {}}), "conversation.id"),
        (json!({"model": "m", "background": true, "store": false}), "background"),
    ] {
        assert_eq!(refusal(body.clone()).1.as_deref(), Some(param), "{body}");
    }
}
