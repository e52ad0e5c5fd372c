//! A turn in the form of Chat Completions: the whole completion, and what it shares with its chunks.

use serde_json::{Map, Value, json};

use crate::ids::{letters, now_seconds};
use crate::items::Said;
use crate::script::{Status, Turn};

/// What a finished item is in chat form.
#[derive(Clone, Debug)]
pub(crate) enum ChatPart {
    Reasoning(String),
    Function { id: String, name: String, arguments: String },
    Custom { id: String, name: String, input: String },
    Content(String),
    Refusal(String),
}

/// The parts of a turn, each with the pieces it is streamed in.
pub(crate) fn parts_of(said: &[Said]) -> Result<Vec<(ChatPart, Vec<String>)>, String> {
    said.iter().map(|said| Ok((part_of(&said.item)?, said.pieces.clone()))).collect()
}

fn part_of(item: &Map<String, Value>) -> Result<ChatPart, String> {
    let text =
        |name: &str| -> String { item.get(name).and_then(Value::as_str).unwrap_or_default().to_owned() };
    let inner = |field: &str, name: &str| -> Option<String> {
        item.get(field)?.get(0)?.get(name)?.as_str().map(str::to_owned)
    };
    match text("type").as_str() {
        "reasoning" => Ok(ChatPart::Reasoning(inner("summary", "text").unwrap_or_default())),
        "function_call" => {
            Ok(ChatPart::Function { id: text("call_id"), name: text("name"), arguments: text("arguments") })
        }
        "custom_tool_call" => {
            Ok(ChatPart::Custom { id: text("call_id"), name: text("name"), input: text("input") })
        }
        "message" => Ok(match inner("content", "refusal") {
            Some(refusal) => ChatPart::Refusal(refusal),
            None => ChatPart::Content(inner("content", "text").unwrap_or_default()),
        }),
        other => Err(format!("the script has an item of type {other:?}, which Chat Completions cannot say")),
    }
}

/// What the completion and each of its chunks begin with.
pub(crate) fn envelope(object: &str, request: &Map<String, Value>) -> Map<String, Value> {
    let mut envelope = Map::new();
    envelope.insert("id".into(), json!(format!("chatcmpl-{}", letters(29))));
    envelope.insert("object".into(), json!(object));
    envelope.insert("created".into(), json!(now_seconds()));
    envelope.insert("model".into(), request.get("model").cloned().unwrap_or_else(|| json!("gpt-5.6-sol")));
    envelope.insert("service_tier".into(), json!("default"));
    envelope
}

pub(crate) fn completion(
    request: &Map<String, Value>,
    turn: &Turn,
    parts: &[(ChatPart, Vec<String>)],
) -> Map<String, Value> {
    let mut message = json!({"role": "assistant", "content": null, "refusal": null, "annotations": []});
    let mut calls = Vec::new();
    for (part, _) in parts {
        match part {
            // A model that thinks without showing it leaves no trace in this form.
            ChatPart::Reasoning(text) if text.is_empty() => {}
            ChatPart::Reasoning(text) => append(&mut message["reasoning_content"], text),
            ChatPart::Content(text) => append(&mut message["content"], text),
            ChatPart::Refusal(text) => append(&mut message["refusal"], text),
            ChatPart::Function { id, name, arguments } => calls.push(json!({"id": id, "type": "function",
                "function": {"name": name, "arguments": arguments}})),
            ChatPart::Custom { id, name, input } => {
                calls.push(json!({"id": id, "type": "custom", "custom": {"name": name, "input": input}}));
            }
        }
    }
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    let mut completion = envelope("chat.completion", request);
    let reason = finish_reason(turn, parts);
    completion.insert(
        "choices".into(),
        json!([{"index": 0, "message": message, "logprobs": null, "finish_reason": reason}]),
    );
    completion.insert("usage".into(), usage(turn));
    completion.extend(turn.response.clone());
    completion
}

fn append(field: &mut Value, text: &str) {
    let before = field.as_str().unwrap_or_default();
    *field = json!(format!("{before}{text}"));
}

pub(crate) fn finish_reason(turn: &Turn, parts: &[(ChatPart, Vec<String>)]) -> &'static str {
    let is_call = |part: &ChatPart| matches!(part, ChatPart::Function { .. } | ChatPart::Custom { .. });
    if turn.status == Status::Incomplete {
        "length"
    } else if parts.iter().any(|(part, _)| is_call(part)) {
        "tool_calls"
    } else {
        "stop"
    }
}

pub(crate) fn usage(turn: &Turn) -> Value {
    let usage = turn.usage.unwrap_or_default();
    json!({
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens, "audio_tokens": 0,
            "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0},
    })
}
