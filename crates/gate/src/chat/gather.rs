//! Deltas put together to a message.

use serde_json::{Map, Value};

/// Fields whose text grows from delta to delta. Other texts are said once.
pub(super) const GROWING: [&str; 4] = ["content", "refusal", "reasoning_content", "reasoning"];

/// What of a model's message it gets back when its work goes on: servers want its thoughts too.
const FED_BACK: [&str; 5] = ["content", "refusal", "reasoning_content", "reasoning", "reasoning_details"];

pub(super) fn add(message: &mut Map<String, Value>, delta: &Map<String, Value>) {
    for (name, value) in delta {
        match (message.get_mut(name), value) {
            (Some(Value::String(before)), Value::String(more)) if GROWING.contains(&name.as_str()) => {
                before.push_str(more);
            }
            (Some(Value::Array(before)), Value::Array(more)) => before.extend(more.iter().cloned()),
            (Some(before), Value::Null) if !before.is_null() => {}
            _ => {
                message.insert(name.clone(), value.clone());
            }
        }
    }
}

/// The message of a turn as the next turn is shown it.
pub(super) fn fed_back(mut message: Map<String, Value>, tool_calls: Vec<Value>) -> Value {
    message.retain(|name, value| FED_BACK.contains(&name.as_str()) && !is_nothing(value));
    let content = message.shift_remove("content").unwrap_or_default();
    let mut fed = Map::new();
    fed.insert("role".to_owned(), "assistant".into());
    fed.insert("content".to_owned(), content);
    fed.append(&mut message);
    fed.insert("tool_calls".to_owned(), Value::Array(tool_calls));
    Value::Object(fed)
}

/// Whether a value says nothing.
pub(super) fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
#[path = "gather_tests.rs"]
mod tests;
