//! A Responses create body as a Chat Completions one.

use serde_json::{Value, json};

use super::messages::messages;
use super::tools::tools;
use super::{ChatOptions, UpstreamError};
use crate::upstream::compose::Object;

/// Fields that Chat Completions has not, or has in another form, which is written below. What is in
/// neither API (`top_k`, `seed`, …) is passed on: servers of this kind have many extras.
const NOT_PASSED_ON: [&str; 23] = [
    "access_programs",
    "background",
    "context_management",
    "conversation",
    "image",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    // Only for completions that the server stores, and we do the storing.
    "metadata",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt",
    "reasoning",
    "store",
    "stream",
    "stream_options",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "truncation",
];

pub(super) fn chat_body(body: &Object, stream: bool, options: ChatOptions) -> Result<Object, UpstreamError> {
    for name in ["previous_response_id", "conversation", "prompt"] {
        if given(body, name).is_some() {
            return Err(refused(&format!("'{name}' cannot be passed on."), name));
        }
    }
    let mut chat = Object::new();
    let passed_on =
        |(name, value): &(&String, &Value)| !value.is_null() && !NOT_PASSED_ON.contains(&name.as_str());
    chat.extend(body.iter().filter(passed_on).map(|(name, value)| (name.clone(), value.clone())));
    let mut set = |name: &str, value: Value| chat.insert(name.to_owned(), value);
    set("messages", messages(body)?.into());
    if let Some((list, choice)) = tools(body)? {
        set("tools", list.into());
        if let Some(choice) = choice {
            set("tool_choice", choice);
        }
        if let Some(parallel) = given(body, "parallel_tool_calls") {
            set("parallel_tool_calls", parallel.clone());
        }
    }
    if let Some(limit) = given(body, "max_output_tokens") {
        set(if options.max_tokens { "max_tokens" } else { "max_completion_tokens" }, limit.clone());
    }
    if let Some(effort) = body.get("reasoning").and_then(|reasoning| reasoning["effort"].as_str()) {
        set("reasoning_effort", effort.into());
    }
    if let Some(text) = given(body, "text") {
        if let Some(format) = response_format(&text["format"])? {
            set("response_format", format);
        }
        if let Some(verbosity) = text["verbosity"].as_str() {
            set("verbosity", verbosity.into());
        }
    }
    let most = body.get("top_logprobs").and_then(Value::as_u64).unwrap_or(0);
    if most > 0 || wants_logprobs(body) {
        set("logprobs", true.into());
        set("top_logprobs", most.into());
    }
    set("stream", stream.into());
    if stream {
        set("stream_options", json!({"include_usage": true}));
    }
    Ok(chat)
}

fn wants_logprobs(body: &Object) -> bool {
    let include = body.get("include").and_then(Value::as_array);
    include.is_some_and(|names| names.iter().any(|name| name == "message.output_text.logprobs"))
}

fn response_format(format: &Value) -> Result<Option<Value>, UpstreamError> {
    match format["type"].as_str() {
        None | Some("text") => Ok(None),
        Some("json_object") => Ok(Some(json!({"type": "json_object"}))),
        Some("json_schema") => {
            let mut schema = Object::new();
            for name in ["name", "description", "schema", "strict"] {
                if let Some(value) = format.get(name).filter(|value| !value.is_null()) {
                    schema.insert(name.to_owned(), value.clone());
                }
            }
            Ok(Some(json!({"type": "json_schema", "json_schema": schema})))
        }
        Some(kind) => {
            Err(refused(&format!("A text format of type '{kind}' cannot be passed on."), "text.format.type"))
        }
    }
}

pub(super) fn given<'a>(body: &'a Object, name: &str) -> Option<&'a Value> {
    body.get(name).filter(|value| !value.is_null())
}

/// A 400 that says what kind of upstream this is.
pub(super) fn refused(what: &str, param: &str) -> UpstreamError {
    let message = format!("The model behind this gateway has the Chat Completions API only. {what}");
    UpstreamError::refused(&message, Some(param))
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
