//! A Responses request as a chat request.

use serde_json::{Value, json};

use super::chat_body;
use crate::upstream::chat::ChatOptions;
use crate::upstream::test_schemas::check;
use crate::upstream::{UpstreamError, compose::Object};

fn object(value: Value) -> Object {
    let Value::Object(object) = value else { panic!("{value}") };
    object
}

fn translated(body: Value) -> Value {
    let chat = Value::Object(chat_body(&object(body), true, ChatOptions::default()).unwrap());
    check("CreateChatCompletionRequest", &chat);
    chat
}

fn refusal(body: Value) -> Value {
    match chat_body(&object(body), true, ChatOptions::default()) {
        Err(UpstreamError::Status { status, body, .. }) => {
            assert_eq!(status.as_u16(), 400);
            let body: Value = serde_json::from_slice(&body).unwrap();
            check("ErrorResponse", &body);
            body["error"].clone()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_smallest_request() {
    assert_eq!(
        translated(json!({"model": "m", "input": "hi"})),
        json!({
            "model": "m", "messages": [{"role": "user", "content": "hi"}],
            "stream": true, "stream_options": {"include_usage": true},
        })
    );
}

#[test]
fn every_field_finds_its_place() {
    let chat = translated(json!({
        "model": "m", "input": "hi", "instructions": "Be brief.", "stream": false,
        "max_output_tokens": 100, "temperature": 0.5, "top_p": 0.9, "user": "u", "safety_identifier": "s",
        "prompt_cache_key": "k", "service_tier": "flex", "top_logprobs": 3, "parallel_tool_calls": false,
        "reasoning": {"effort": "low", "summary": "auto"}, "store": false, "metadata": {"a": "b"},
        "truncation": "auto", "max_tool_calls": 3, "background": false, "previous_response_id": null,
        "include": ["reasoning.encrypted_content"], "stream_options": {"include_obfuscation": false},
        "text": {"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}, "strict": true, "description": null}, "verbosity": "low"},
        "tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": null}],
        "top_k": 40, "chat_template_kwargs": {"enable_thinking": false},
    }));
    let expected = json!({
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}],
        "max_completion_tokens": 100, "temperature": 0.5, "top_p": 0.9, "user": "u", "safety_identifier": "s",
        "prompt_cache_key": "k", "service_tier": "flex", "logprobs": true, "top_logprobs": 3,
        "parallel_tool_calls": false, "reasoning_effort": "low", "verbosity": "low",
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}, "strict": true}},
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
        "top_k": 40, "chat_template_kwargs": {"enable_thinking": false},
        "stream": true, "stream_options": {"include_usage": true},
    });
    assert_eq!(chat, expected);
}

#[test]
fn the_limit_has_the_name_the_server_knows() {
    let body = object(json!({"model": "m", "input": "hi", "max_output_tokens": 16}));
    let chat = chat_body(&body, false, ChatOptions { max_tokens: true }).unwrap();
    assert_eq!(chat["max_tokens"], 16);
    assert!(!chat.contains_key("max_completion_tokens") && !chat.contains_key("stream_options"));
}

#[test]
fn formats_of_text_become_response_formats() {
    let format = |format: Value| translated(json!({"model": "m", "input": "hi", "text": {"format": format}}));
    assert!(format(json!({"type": "text"})).get("response_format").is_none());
    assert_eq!(format(json!({"type": "json_object"}))["response_format"], json!({"type": "json_object"}));
}

#[test]
fn what_chat_completions_cannot_do_is_refused_by_name() {
    for (name, value) in [
        ("previous_response_id", json!("resp_1")),
        ("conversation", json!({"id": "conv_1"})),
        ("prompt", json!({"id": "p"})),
    ] {
        let mut body = json!({"model": "m", "input": "hi"});
        body[name] = value;
        let error = refusal(body);
        assert_eq!(error["param"], name);
        assert!(error["message"].as_str().unwrap().contains("Chat Completions API only"));
    }
    let grammar = json!({"model": "m", "input": "hi", "text": {"format": {"type": "grammar"}}});
    assert_eq!(refusal(grammar)["param"], "text.format.type");
    assert_eq!(refusal(json!({"model": "m"}))["param"], "input");
}
