//! Items as lists show them: clients may send them short, the lists have every field.

use serde_json::{Map, Value, json};

/// The item with its type, its content as parts, and its status.
#[must_use]
pub fn with_defaults(item: Value) -> Value {
    let Value::Object(mut fields) = item else { return item };
    let is_message = match fields.get("type").and_then(Value::as_str) {
        None => {
            fields.shift_insert(0, "type".to_owned(), json!("message"));
            true
        }
        Some(kind) => kind == "message",
    };
    if is_message {
        complete_message(&mut fields);
    }
    Value::Object(fields)
}

fn complete_message(fields: &mut Map<String, Value>) {
    let by_assistant = fields.get("role").and_then(Value::as_str) == Some("assistant");
    let text_part = |text: &str| {
        if by_assistant {
            json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
        } else {
            json!({"type": "input_text", "text": text})
        }
    };
    match fields.get_mut("content") {
        Some(content @ Value::String(_)) => {
            let part = text_part(content.as_str().unwrap_or_default());
            *content = json!([part]);
        }
        Some(Value::Array(parts)) => {
            for part in parts {
                complete_part(part);
            }
        }
        _ => {}
    }
    fields.entry("status").or_insert_with(|| json!("completed"));
}

fn complete_part(part: &mut Value) {
    let Value::Object(fields) = part else { return };
    match fields.get("type").and_then(Value::as_str) {
        Some("input_image") => {
            fields.entry("detail").or_insert_with(|| json!("auto"));
            fields.entry("file_id").or_insert(Value::Null);
            fields.entry("image_url").or_insert(Value::Null);
        }
        Some("output_text") => {
            fields.entry("annotations").or_insert_with(|| json!([]));
            fields.entry("logprobs").or_insert_with(|| json!([]));
        }
        _ => {}
    }
}

#[cfg(test)]
#[path = "item_form_tests.rs"]
mod tests;
