//! Messages that come back: a client that sends an earlier answer again sends our extra field with it.
//! No upstream knows that field, so it is taken out, and its calls are put back as the model made them.

use std::collections::HashSet;

use sandgate_core::Owner;
use sandgate_store::{Store, StoreError};
use serde_json::{Map, Value, json};

use super::gather::is_nothing;
use super::shown::FIELD;
use crate::error::Result;
use crate::history::check_weight;
use crate::upstream::unused_id;

/// Takes our field out of a request's messages. False: there was none.
pub fn forget_code(body: &mut Map<String, Value>) -> bool {
    let mut found = false;
    if let Some(Value::Array(messages)) = body.get_mut("messages") {
        for message in messages.iter_mut().filter_map(Value::as_object_mut) {
            found |= message.shift_remove(FIELD).is_some();
        }
    }
    found
}

/// The containers that earlier answers ran in, the last one last.
pub(super) fn containers(messages: &[Value]) -> Vec<String> {
    let ids = messages.iter().filter_map(|message| message.get(FIELD)?.get("container_id")?.as_str());
    ids.map(str::to_owned).collect()
}

pub(super) fn call_ids(messages: &[Value]) -> HashSet<String> {
    let calls = messages.iter().filter_map(|message| message.get("tool_calls")?.as_array()).flatten();
    calls.filter_map(|call| call.get("id")?.as_str().map(str::to_owned)).collect()
}

/// The messages as the model saw them. `name`: of the function that stands in for the tool.
pub(super) async fn expand(
    messages: Vec<Value>,
    name: &str,
    taken: &mut HashSet<String>,
    owner: &Owner,
    store: &Store,
) -> Result<Vec<Value>> {
    let mut expanded = Vec::with_capacity(messages.len());
    let mut weight = 0;
    for mut message in messages {
        let ran = message.as_object_mut().and_then(|message| message.shift_remove(FIELD));
        let calls = ran.as_ref().and_then(|ran| ran.get("calls")?.as_array());
        let (mut made, mut told) = (Vec::new(), Vec::new());
        for call in calls.into_iter().flatten() {
            let Some(code) = call.get("code").and_then(Value::as_str) else { continue };
            let kept = Kept::find(call, owner, store).await?;
            // The same call named a million times must not become a million outputs.
            weight += kept.told.len();
            check_weight(weight)?;
            let id = unused_id(kept.call_id.as_deref(), taken);
            let arguments = json!({"code": code}).to_string();
            made.push(json!({"id": id, "type": "function",
                "function": {"name": name, "arguments": arguments}}));
            told.push(json!({"role": "tool", "tool_call_id": id, "content": kept.told}));
        }
        if !made.is_empty() {
            expanded.push(json!({"role": "assistant", "content": null, "tool_calls": made}));
            expanded.append(&mut told);
            let says = |field| message.get(field).is_some_and(|value| !is_nothing(value));
            if !says("content") && !says("tool_calls") && !says("refusal") {
                continue;
            }
        }
        expanded.push(message);
    }
    Ok(expanded)
}

struct Kept {
    call_id: Option<String>,
    told: String,
}

impl Kept {
    /// What the model was told of this call; where nobody remembers, what the client was shown.
    async fn find(call: &Value, owner: &Owner, store: &Store) -> Result<Self> {
        let id = call.get("id").and_then(Value::as_str).unwrap_or_default();
        let model = match store.item(owner, id).await {
            Ok(item) => item.model.unwrap_or_default(),
            Err(StoreError::NotFound) => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let find = |name: &str| model.iter().find_map(|item| item.get(name)?.as_str().map(str::to_owned));
        Ok(Self { call_id: find("call_id"), told: find("output").unwrap_or_else(|| shown(call)) })
    }
}

fn shown(call: &Value) -> String {
    let outputs = call.get("outputs").and_then(Value::as_array).into_iter().flatten();
    let text: Vec<&str> = outputs
        .map(|output| {
            output.get("logs").and_then(Value::as_str).unwrap_or("[a figure was shown to the user]")
        })
        .collect();
    if text.is_empty() { "[no output]".to_owned() } else { text.join("\n") }
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
