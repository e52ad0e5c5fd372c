//! Items as lists show them: clients may send them short, the lists have every field.

use serde_json::{Map, Value, json};

/// Items of these types always have a status where they are listed.
const WITH_STATUS: [&str; 12] = [
    "function_call",
    "function_call_output",
    "code_interpreter_call",
    "computer_call",
    "computer_call_output",
    "file_search_call",
    "web_search_call",
    "image_generation_call",
    "shell_call",
    "shell_call_output",
    "apply_patch_call",
    "apply_patch_call_output",
];

/// The item with its type, its content as parts, and its status.
#[must_use]
pub fn with_defaults(item: Value) -> Value {
    let Value::Object(mut fields) = item else { return item };
    if !fields.contains_key("type") {
        fields.shift_insert(0, "type".to_owned(), json!("message"));
    }
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    if WITH_STATUS.contains(&kind.as_str()) && !fields.get("status").is_some_and(Value::is_string) {
        fields.insert("status".to_owned(), json!("completed"));
    }
    match kind.as_str() {
        "message" => complete_message(&mut fields),
        "reasoning" => {
            fields.entry("summary").or_insert_with(|| json!([]));
        }
        "code_interpreter_call" => {
            fields.entry("code").or_insert(Value::Null);
            fields.entry("outputs").or_insert(Value::Null);
        }
        _ => {}
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
