//! The model's thoughts on their way back to it. What is said stays here, so an upstream has to be given
//! its thoughts again, whole; one that it can neither read nor look up makes it refuse the whole request.

use serde_json::{Map, Value, json};

use crate::history::kind;

/// In `include`: thoughts in a form that only the upstream can read.
pub(crate) const INCLUDE_THOUGHTS: &str = "reasoning.encrypted_content";

/// Whether the upstream has to be asked for its thoughts. Not in any case: some refuse that for models
/// that do not think.
pub(crate) fn asks_for_thoughts(body: &Map<String, Value>) -> bool {
    let asked = body.get("reasoning").and_then(Value::as_object);
    let is_asked = asked.is_some_and(|reasoning| reasoning.values().any(|value| !value.is_null()));
    is_asked || body.get("model").and_then(Value::as_str).is_some_and(thinks)
}

/// Families of models that are known to think, under whatever provider.
fn thinks(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let is_of_family = |family: &str| {
        let rest = name.strip_prefix(family);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.', ':']))
    };
    let is_known = ["gpt-5", "o1", "o3", "o4", "codex"].into_iter().any(is_of_family);
    is_known && !name.contains("-chat")
}

/// The items in front of the model as an upstream takes them: without thoughts that it could not read,
/// and without those whose call or message was cut off and is not there any more.
pub(crate) fn readable(items: &[Value]) -> Vec<Value> {
    let mut readable = Vec::with_capacity(items.len());
    let mut is_left_out = false;
    for (at, item) in items.iter().enumerate() {
        if kind(item) != "reasoning" {
            let is_orphan = std::mem::take(&mut is_left_out);
            readable.push(if is_orphan { without_id(item.clone()) } else { item.clone() });
        } else if !can_be_read(item) {
            is_left_out = true;
        } else if leads_to_something(&items[at + 1..]) {
            readable.push(item.clone());
        }
    }
    readable
}

fn can_be_read(thought: &Value) -> bool {
    let has_text =
        thought.get("encrypted_content").and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    has_text || thought.get("content").and_then(Value::as_array).is_some_and(|parts| !parts.is_empty())
}

/// Whether what comes after a thought is the model's own.
fn leads_to_something(after: &[Value]) -> bool {
    after.iter().find(|item| kind(item) != "reasoning").is_some_and(|item| match kind(item) {
        "message" => item.get("role").and_then(Value::as_str) == Some("assistant"),
        "mcp_approval_response" | "additional_tools" | "compaction_trigger" => false,
        kind => !kind.ends_with("_output"),
    })
}

/// By its id an upstream would know that a thought belongs before it.
fn without_id(mut item: Value) -> Value {
    match kind(&item) {
        "message" if item.get("role").and_then(Value::as_str) == Some("assistant") => {
            let Some(parts) = item.get("content").and_then(Value::as_array) else { return item };
            let said = |part: &Value| {
                let text = part.get("text").or_else(|| part.get("refusal")).and_then(Value::as_str);
                text.unwrap_or_default().to_owned()
            };
            // Only a message of plain text may lack an id.
            let text: Vec<String> = parts.iter().map(said).collect();
            let mut message = json!({"type": "message", "role": "assistant", "content": text.join("\n")});
            if let Some(phase) = item.get("phase") {
                message["phase"] = phase.clone();
            }
            message
        }
        "function_call" | "custom_tool_call" | "shell_call" | "apply_patch_call" | "tool_search_call" => {
            if let Value::Object(fields) = &mut item {
                fields.shift_remove("id");
            }
            item
        }
        // Others cannot be without.
        _ => item,
    }
}

#[cfg(test)]
#[path = "thoughts_tests.rs"]
mod tests;
