//! Tools and tool choices in the form of chat.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{Tools, custom_names, tools};
use crate::upstream::UpstreamError;

fn with(choice: Value) -> Result<Option<Tools>, UpstreamError> {
    let list = json!([
        {"type": "function", "name": "a", "description": "does a", "parameters": {"type": "object"}, "strict": true},
        {"type": "function", "name": "b", "description": null, "parameters": null},
    ]);
    let body = json!({"tools": list, "tool_choice": choice});
    tools(body.as_object().unwrap())
}

fn param(error: &UpstreamError) -> String {
    let UpstreamError::Status { body, .. } = error else { panic!("{error:?}") };
    serde_json::from_slice::<Value>(body).unwrap()["error"]["param"].as_str().unwrap().to_owned()
}

#[test]
fn functions_are_nested() {
    let (list, choice) = with(Value::Null).unwrap().unwrap();
    assert_eq!(
        list,
        [
            json!({"type": "function", "function": {"name": "a", "description": "does a", "parameters": {"type": "object"}, "strict": true}}),
            json!({"type": "function", "function": {"name": "b"}}),
        ]
    );
    assert_eq!(choice, None);
}

#[test]
fn choices_keep_their_meaning() {
    for word in ["auto", "none", "required"] {
        assert_eq!(with(json!(word)).unwrap().unwrap().1, Some(json!(word)));
    }
    let named = with(json!({"type": "function", "name": "b"})).unwrap().unwrap();
    assert_eq!(named.1, Some(json!({"type": "function", "function": {"name": "b"}})));
}

#[test]
fn allowed_tools_are_the_only_ones_sent() {
    let allowed =
        json!({"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "b"}]});
    let (list, choice) = with(allowed).unwrap().unwrap();
    assert_eq!(list.len(), 1);
    assert_eq!(list[0]["function"]["name"], "b");
    assert_eq!(choice, Some(json!("required")));
    let nothing = json!({"type": "allowed_tools", "mode": "auto", "tools": []});
    assert_eq!(with(nothing).unwrap(), None);
}

#[test]
fn without_tools_there_is_no_choice() {
    for body in
        [json!({"tool_choice": "auto"}), json!({"tools": [], "tool_choice": "auto"}), json!({"tools": null})]
    {
        assert_eq!(tools(body.as_object().unwrap()).unwrap(), None);
    }
}

#[test]
fn other_kinds_are_refused() {
    let body = json!({"tools": [{"type": "function", "name": "a"}, {"type": "web_search"}]});
    assert_eq!(param(&tools(body.as_object().unwrap()).unwrap_err()), "tools[1].type");
    for choice in
        [json!({"type": "mcp", "server_label": "a"}), json!({"type": "code_interpreter"}), json!("sometimes")]
    {
        assert_eq!(param(&with(choice).unwrap_err()), "tool_choice");
    }
}

#[test]
fn custom_tools_are_functions_of_one_text() {
    let grammar = json!({"type": "grammar", "syntax": "regex", "definition": "[0-9]+"});
    let body = json!({"tools": [
        {"type": "custom", "name": "plain"},
        {"type": "custom", "name": "patch", "description": "Changes files.", "format": grammar},
    ], "tool_choice": {"type": "custom", "name": "patch"}});
    let body = body.as_object().unwrap();
    let (list, choice) = tools(body).unwrap().unwrap();
    let parameters = json!({"type": "object", "properties": {"input": {"type": "string"}},
        "required": ["input"], "additionalProperties": false});
    assert_eq!(
        list,
        [
            json!({"type": "function", "function": {"name": "plain", "parameters": parameters}}),
            json!({"type": "function", "function": {"name": "patch", "parameters": parameters,
                "description": "Changes files.\n\nThe input must follow this grammar (regex):\n[0-9]+"}}),
        ]
    );
    assert_eq!(choice, Some(json!({"type": "function", "function": {"name": "patch"}})));
    assert_eq!(custom_names(body), HashSet::from(["plain".to_owned(), "patch".to_owned()]));
}
