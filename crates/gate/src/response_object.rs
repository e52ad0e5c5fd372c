//! The response object that clients see: what the upstream said of itself, with the client's own words
//! for everything the gate changed on the way.

use sandgate_core::now_seconds;
use serde_json::{Map, Value, json};

use crate::request::CreateRequest;
use crate::tool_secrets::forget_secrets;

/// Fields of the upstream's object that are never taken from it: they tell of one turn, of the
/// rewritten request, or of the upstream's own store.
const OURS: [&str; 16] = [
    "id",
    "object",
    "created_at",
    "completed_at",
    "status",
    "background",
    "output",
    "output_text",
    "usage",
    "error",
    "incomplete_details",
    "tools",
    "tool_choice",
    "previous_response_id",
    "conversation",
    "store",
];

#[derive(Clone, Debug)]
pub(crate) struct ResponseObject {
    fields: Map<String, Value>,
}

impl ResponseObject {
    /// What can be said before any upstream has answered.
    pub(crate) fn new(id: &str, request: &CreateRequest) -> Self {
        let asked = |name: &str, default: Value| request.body.get(name).cloned().unwrap_or(default);
        let mut tools = asked("tools", json!([]));
        forget_secrets(&mut tools);
        let conversation = request.conversation.as_ref().map(|id| json!({"id": id}));
        let fields = json!({
            "id": id,
            "object": "response",
            "created_at": now_seconds(),
            "status": "in_progress",
            "background": request.background,
            "completed_at": null,
            "error": null,
            "incomplete_details": null,
            "instructions": asked("instructions", Value::Null),
            "max_output_tokens": asked("max_output_tokens", Value::Null),
            "max_tool_calls": asked("max_tool_calls", Value::Null),
            "model": asked("model", Value::Null),
            "output": [],
            "parallel_tool_calls": asked("parallel_tool_calls", json!(true)),
            "previous_response_id": request.previous,
            "prompt_cache_key": asked("prompt_cache_key", Value::Null),
            "reasoning": asked("reasoning", json!({"effort": null, "summary": null})),
            "safety_identifier": asked("safety_identifier", Value::Null),
            "service_tier": asked("service_tier", json!("auto")),
            "store": request.store,
            "temperature": asked("temperature", json!(1.0)),
            "text": asked("text", json!({"format": {"type": "text"}, "verbosity": "medium"})),
            "tool_choice": asked("tool_choice", json!("auto")),
            "tools": tools,
            "top_logprobs": asked("top_logprobs", json!(0)),
            "top_p": asked("top_p", json!(1.0)),
            "truncation": asked("truncation", json!("disabled")),
            "usage": null,
            "user": asked("user", Value::Null),
            "metadata": asked("metadata", json!({}))
        });
        let Value::Object(mut fields) = fields else { return Self { fields: Map::new() } };
        for (name, default) in [("tool_choice", json!("auto")), ("tools", json!([])), ("metadata", json!({}))]
        {
            if fields.get(name).is_none_or(Value::is_null) {
                fields.insert(name.to_owned(), default);
            }
        }
        if let Some(conversation) = conversation {
            fields.insert("conversation".to_owned(), conversation);
        }
        Self { fields }
    }

    /// Takes over what the upstream said of itself: the model's full name, its tier, its defaults.
    pub(crate) fn learn(&mut self, upstream: Option<&Value>, request: &CreateRequest) {
        let Some(Value::Object(upstream)) = upstream else { return };
        for (name, value) in upstream {
            // A limit counts over all turns, but each turn is told what is left of it.
            let ours = OURS.contains(&name.as_str())
                || (matches!(
                    name.as_str(),
                    "max_output_tokens" | "max_tool_calls" | "instructions" | "include"
                ))
                || (value.is_null() && request.body.get(name).is_some_and(|asked| !asked.is_null()));
            if !ours {
                self.fields.insert(name.clone(), value.clone());
            }
        }
    }

    pub(crate) fn set(&mut self, name: &str, value: Value) {
        self.fields.insert(name.to_owned(), value);
    }

    pub(crate) fn snapshot(&self) -> Value {
        Value::Object(self.fields.clone())
    }
}

#[cfg(test)]
#[path = "response_object_tests.rs"]
mod tests;
