//! The response object around the output: every field the real service sends, echoed from the request.

use serde_json::{Map, Value, json};

use crate::ids::now_seconds;
use crate::items::Said;
use crate::script::{Status, Turn, Usage};

/// A response as it is when it begins: no output, no usage.
pub(crate) fn begun(id: &str, request: &Map<String, Value>, turn: &Turn) -> Map<String, Value> {
    let echo = |name: &str, otherwise: Value| -> Value {
        request.get(name).filter(|value| !value.is_null()).cloned().unwrap_or(otherwise)
    };
    let response = json!({
        "id": id,
        "object": "response",
        "created_at": now_seconds(),
        "status": "in_progress",
        "background": echo("background", json!(false)),
        "completed_at": null,
        "error": null,
        "incomplete_details": null,
        "instructions": echo("instructions", Value::Null),
        "max_output_tokens": echo("max_output_tokens", Value::Null),
        "max_tool_calls": echo("max_tool_calls", Value::Null),
        "model": echo("model", json!("gpt-5.6-sol")),
        "output": [],
        "parallel_tool_calls": echo("parallel_tool_calls", json!(true)),
        "previous_response_id": echo("previous_response_id", Value::Null),
        "prompt_cache_key": echo("prompt_cache_key", Value::Null),
        "reasoning": over(json!({"effort": "medium", "summary": null}), request.get("reasoning")),
        "safety_identifier": echo("safety_identifier", Value::Null),
        "service_tier": echo("service_tier", json!("auto")),
        "store": echo("store", json!(true)),
        "temperature": echo("temperature", json!(1.0)),
        "text": over(json!({"format": {"type": "text"}, "verbosity": "medium"}), request.get("text")),
        "tool_choice": echo("tool_choice", json!("auto")),
        "tools": echo("tools", json!([])),
        "top_logprobs": echo("top_logprobs", json!(0)),
        "top_p": echo("top_p", json!(1.0)),
        "truncation": echo("truncation", json!("disabled")),
        "usage": null,
        "user": echo("user", Value::Null),
        "metadata": echo("metadata", json!({})),
    });
    let mut response = if let Value::Object(map) = response { map } else { Map::new() };
    response.extend(turn.response.clone());
    response
}

/// The same response when it is over.
pub(crate) fn ended(begun: &Map<String, Value>, said: &[Said], turn: &Turn) -> Map<String, Value> {
    let mut response = begun.clone();
    let mut set = |name: &str, value: Value| {
        response.insert(name.to_owned(), value);
    };
    set("output", said.iter().map(|said| Value::Object(said.item.clone())).collect());
    match turn.status {
        Status::Completed => {
            set("status", json!("completed"));
            set("completed_at", json!(now_seconds()));
        }
        Status::Incomplete => {
            set("status", json!("incomplete"));
            set("incomplete_details", json!({"reason": "max_output_tokens"}));
        }
        Status::Failed => {
            set("status", json!("failed"));
            set("error", failure(turn));
        }
    }
    if turn.status != Status::Failed {
        set("usage", usage(turn.usage.unwrap_or_default()));
        set("service_tier", json!("default"));
    }
    response.extend(turn.response.clone());
    response
}

/// The `error` of a failed response.
pub(crate) fn failure(turn: &Turn) -> Value {
    match &turn.error {
        Some(error) => json!({"code": error.code, "message": error.message}),
        None => {
            json!({"code": "server_error", "message": "The server had an error processing your request."})
        }
    }
}

fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input_tokens,
        "input_tokens_details":
            {"cached_tokens": usage.cached_tokens, "cache_write_tokens": usage.cache_write_tokens},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    })
}

/// The ordinary value with the fields of the request's put over it.
fn over(ordinary: Value, request: Option<&Value>) -> Value {
    match (ordinary, request) {
        (Value::Object(mut ordinary), Some(Value::Object(request))) => {
            ordinary.extend(request.clone());
            Value::Object(ordinary)
        }
        (ordinary, _) => ordinary,
    }
}
