//! Items of the Responses API as chat messages.

use serde_json::{Value, json};

use super::messages;
use crate::upstream::UpstreamError;
use crate::upstream::test_schemas::check;

fn written(input: Value) -> Value {
    let body = json!({"input": input});
    let messages = Value::from(messages(body.as_object().unwrap()).unwrap());
    check("CreateChatCompletionRequest", &json!({"model": "m", "messages": messages}));
    messages
}

fn refusal(input: Value) -> (String, String) {
    let body = json!({"input": input});
    let Err(UpstreamError::Status { body, .. }) = messages(body.as_object().unwrap()) else {
        panic!("not refused")
    };
    let error = &serde_json::from_slice::<Value>(&body).unwrap()["error"];
    (error["message"].as_str().unwrap().to_owned(), error["param"].as_str().unwrap().to_owned())
}

fn call(id: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": "python", "arguments": "{\"code\": \"1\"}"})
}

fn output(id: &str, output: impl Into<Value>) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": output.into()})
}

fn tool_calls(ids: &[&str]) -> Value {
    ids.iter()
        .map(|id| json!({"id": id, "type": "function", "function": {"name": "python", "arguments": "{\"code\": \"1\"}"}}))
        .collect()
}

fn tool(id: &str, text: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": text})
}

#[test]
fn text_alone_is_a_string_and_the_rest_are_parts() {
    let parts = json!([
        {"type": "input_text", "text": "look"},
        {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "original"},
        {"type": "input_image", "image_url": "https://example.org/a.png", "detail": "low", "file_id": null},
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,AA==", "file_id": null},
    ]);
    assert_eq!(
        written(
            json!([{"role": "user", "content": [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}]}, {"type": "message", "role": "user", "content": parts}])
        ),
        json!([
            {"role": "user", "content": "a\nb"},
            {"role": "user", "content": [
                {"type": "text", "text": "look"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA==", "detail": "high"}},
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}},
                {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AA=="}},
            ]},
        ])
    );
}

#[test]
fn instructions_and_developer_messages_at_the_start_are_one_system_message() {
    let input = json!([
        {"role": "developer", "content": "two"}, {"role": "system", "content": [{"type": "input_text", "text": "three"}]},
        {"role": "user", "content": "hi"}, {"role": "developer", "content": "later"},
    ]);
    let body = json!({"instructions": "one", "input": input});
    assert_eq!(
        Value::from(messages(body.as_object().unwrap()).unwrap()),
        json!([
            {"role": "system", "content": "one\n\ntwo\n\nthree"},
            {"role": "user", "content": "hi"},
            {"role": "system", "content": "later"},
        ])
    );
}

#[test]
fn what_the_assistant_did_in_one_go_is_one_message() {
    let input = json!([
        {"role": "user", "content": "go"},
        {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me see."}]},
        call("a"), call("b"), output("a", "A"), output("b", "B"),
        call("c"), output("c", "C"),
        {"role": "assistant", "content": "Done."},
    ]);
    assert_eq!(
        written(input),
        json!([
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": "Let me see.", "reasoning_content": "hm", "tool_calls": tool_calls(&["a", "b"])},
            tool("a", "A"), tool("b", "B"),
            {"role": "assistant", "content": null, "tool_calls": tool_calls(&["c"])},
            tool("c", "C"),
            {"role": "assistant", "content": "Done."},
        ])
    );
}

#[test]
fn outputs_follow_their_calls_wherever_they_stood() {
    let input = json!([call("a"), call("b"), {"role": "user", "content": "wait"}, output("b", "B"), output("a", "A")]);
    assert_eq!(
        written(input),
        json!([
            {"role": "assistant", "content": null, "tool_calls": tool_calls(&["a", "b"])},
            tool("a", "A"), tool("b", "B"),
            {"role": "user", "content": "wait"},
        ])
    );
}

#[test]
fn images_of_outputs_come_in_a_message_after_all_of_them() {
    let image = json!({"type": "input_image", "image_url": "data:image/png;base64,AA=="});
    let with_text = json!([{"type": "input_text", "text": "plotted"}, image]);
    let input = json!([call("a"), call("b"), output("a", with_text), output("b", json!([image]))]);
    let shown = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}});
    assert_eq!(
        written(input),
        json!([
            {"role": "assistant", "content": null, "tool_calls": tool_calls(&["a", "b"])},
            tool("a", "plotted"), tool("b", "The output is in the next message."),
            {"role": "user", "content": [
                {"type": "text", "text": "Output of the tool call a:"}, shown,
                {"type": "text", "text": "Output of the tool call b:"}, shown,
            ]},
        ])
    );
}

#[test]
fn thoughts_that_are_hidden_or_old_are_left_out() {
    let thought = |text: &str| json!({"type": "reasoning", "id": "r", "summary": [], "content": [{"type": "reasoning_text", "text": text}]});
    let input = json!([
        {"role": "user", "content": "1"}, thought("old"), {"role": "assistant", "content": "one"},
        {"role": "user", "content": "2"}, {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "s"}], "encrypted_content": "x"},
    ]);
    assert_eq!(
        written(input),
        json!([{"role": "user", "content": "1"}, {"role": "assistant", "content": "one"}, {"role": "user", "content": "2"}])
    );
}

#[test]
fn a_refusal_stays_one_and_arguments_are_never_blank() {
    let input = json!([
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]},
        {"role": "user", "content": "please"},
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": ""}, output("a", ""),
    ]);
    let messages = written(input);
    assert_eq!(messages[0], json!({"role": "assistant", "content": null, "refusal": "no"}));
    assert_eq!(messages[2]["tool_calls"][0]["function"]["arguments"], "{}");
    assert_eq!(messages[3], tool("a", ""));
}

#[test]
fn calls_and_outputs_that_do_not_meet_are_refused_in_the_usual_words() {
    assert_eq!(refusal(json!([call("a")])).0, "No tool output found for function call a.");
    assert_eq!(
        refusal(json!([output("x", "")])).0,
        "No tool call found for function call output with call_id x."
    );
}

#[test]
fn what_cannot_be_written_is_refused_with_its_place() {
    let user = |part: Value| json!([{"role": "user", "content": [part]}]);
    let cases = [
        (json!(["text"]), "input[0].role"),
        (
            json!([{"role": "user", "content": "a"}, {"type": "item_reference", "id": "msg_1"}]),
            "input[1].type",
        ),
        (json!([{"role": "critic", "content": "a"}]), "input[0].role"),
        (user(json!({"type": "hologram"})), "input[0].content[0].type"),
        (user(json!({"type": "input_image", "file_id": "file-1"})), "input[0].content[0]"),
        (user(json!({"type": "input_file", "file_url": "https://example.org/a"})), "input[0].content[0]"),
        (json!([]), "input"),
    ];
    for (input, param) in cases {
        assert_eq!(refusal(input).1, param);
    }
}

#[test]
fn calls_of_custom_tools_are_calls_of_functions_of_one_text() {
    let input = json!([
        {"role": "user", "content": "go"},
        {"type": "custom_tool_call", "call_id": "c1", "name": "patch", "input": "say \"hi\""},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "done"},
    ]);
    let call = json!({"id": "c1", "type": "function",
        "function": {"name": "patch", "arguments": "{\"input\":\"say \\\"hi\\\"\"}"}});
    assert_eq!(
        written(input),
        json!([
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": null, "tool_calls": [call]},
            tool("c1", "done"),
        ])
    );
}
