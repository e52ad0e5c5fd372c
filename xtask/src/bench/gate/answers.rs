//! What the mock says: a message, a call of the code tool, the events of a stream, a sandbox's replies.

use std::sync::atomic::{AtomicU64, Ordering};

use hyper::HeaderMap;
use hyper::header::HOST;
use memchr::memmem;
use serde_json::{Value, json};

use super::mock::CHUNKS;

const TEXT: &str = "It is 42.";
pub(super) const CODE: &str = "print(6*7)";
/// What LiteLLM calls the tool.
const LITELLM_TOOL: &str = "litellm_code_execution";

fn response(id: u64, status: &str, output: &Value) -> Value {
    let usage = match status {
        "completed" => {
            json!({"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 15})
        }
        _ => Value::Null,
    };
    json!({"id": format!("resp_{id:048x}"), "object": "response", "created_at": 1_760_000_000, "status": status,
        "error": null, "incomplete_details": null, "instructions": null, "max_output_tokens": null,
        "model": "mock", "output": output, "parallel_tool_calls": true, "previous_response_id": null,
        "reasoning": {"effort": null, "summary": null}, "store": true, "temperature": 1.0,
        "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [], "top_p": 1.0,
        "truncation": "disabled", "usage": usage, "user": null, "metadata": {}})
}

fn message_item(id: u64, status: &str, content: &Value) -> Value {
    json!({"id": message_id(id), "type": "message", "status": status, "role": "assistant", "content": content})
}

fn message_id(id: u64) -> String {
    format!("msg_{id:048x}")
}

fn text_part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

fn next_id() -> u64 {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

pub(super) fn message() -> String {
    let id = next_id();
    response(id, "completed", &json!([message_item(id, "completed", &json!([text_part(TEXT)]))])).to_string()
}

/// The call, unless its output is there already; the tool is called what the gateway calls it.
pub(super) fn code_turn(body: &[u8]) -> String {
    if memmem::find(body, b"\"function_call_output\"").is_some() {
        return message();
    }
    let is_litellm = memmem::find(body, LITELLM_TOOL.as_bytes()).is_some();
    let name = if is_litellm { LITELLM_TOOL } else { "python" };
    let id = next_id();
    let call = json!({"id": format!("fc_{id:048x}"), "type": "function_call", "status": "completed",
        "call_id": format!("call_{id:024}"), "name": name, "arguments": json!({"code": CODE}).to_string()});
    response(id, "completed", &json!([call])).to_string()
}

/// Whether the body says `"stream": true`, however its JSON is spaced.
pub(super) fn is_streamed(body: &[u8]) -> bool {
    let after = memmem::find(body, b"\"stream\"").map(|at| &body[at + b"\"stream\"".len()..]);
    let value = after.and_then(|rest| rest.trim_ascii_start().strip_prefix(b":"));
    value.is_some_and(|value| value.trim_ascii_start().starts_with(b"true"))
}

/// The one stream: its ids may repeat, as nobody goes on from it.
const STREAM: u64 = 7;

pub(super) fn stream_start() -> String {
    let empty = response(STREAM, "in_progress", &json!([]));
    let events = [
        json!({"type": "response.created", "sequence_number": 0, "response": empty}),
        json!({"type": "response.in_progress", "sequence_number": 1, "response": empty}),
        json!({"type": "response.output_item.added", "sequence_number": 2, "output_index": 0,
            "item": message_item(STREAM, "in_progress", &json!([]))}),
        json!({"type": "response.content_part.added", "sequence_number": 3, "output_index": 0, "content_index": 0,
            "item_id": message_id(STREAM), "part": text_part("")}),
    ];
    events.iter().map(event).collect()
}

/// `number` counts from 1.
pub(super) fn stream_delta(number: u32, stamp: u128) -> String {
    event(&json!({"type": "response.output_text.delta", "sequence_number": number + 3, "output_index": 0,
        "content_index": 0, "item_id": message_id(STREAM), "delta": format!("@{stamp};"), "logprobs": []}))
}

pub(super) fn stream_end() -> String {
    let part = text_part(TEXT);
    let item = message_item(STREAM, "completed", &json!([part]));
    let place = |kind: &str, number: u32| {
        json!({"type": kind, "sequence_number": CHUNKS + number, "output_index": 0, "content_index": 0,
            "item_id": message_id(STREAM)})
    };
    let mut done = place("response.output_text.done", 4);
    done["text"] = json!(TEXT);
    done["logprobs"] = json!([]);
    let mut part_done = place("response.content_part.done", 5);
    part_done["part"] = part;
    let events = [
        done,
        part_done,
        json!({"type": "response.output_item.done", "sequence_number": CHUNKS + 6, "output_index": 0, "item": item}),
        json!({"type": "response.completed", "sequence_number": CHUNKS + 7,
            "response": response(STREAM, "completed", &json!([item]))}),
    ];
    events.iter().map(event).collect()
}

fn event(value: &Value) -> String {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap_or_default())
}

/// OpenSandbox's protocol as far as LiteLLM speaks it, answered without running anything.
pub(super) fn sandbox(path: &str, headers: &HeaderMap) -> (&'static str, String) {
    if path.ends_with("/code") {
        let output = json!({"type": "stdout", "text": "42\n"});
        return ("text/event-stream", format!("data: {output}\n\n"));
    }
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let said = if path.contains("/endpoints/") {
        json!({"endpoint": format!("{host}/sandbox"), "headers": {}})
    } else {
        json!({"id": "sandbox", "status": {"state": "Running"}})
    };
    ("application/json", said.to_string())
}
