//! Where real traffic differs from the published schema: taken out of a value before it is checked.
//!
//! Seen in recordings, or written so in the examples of the published description itself. Nothing else is
//! forgiven.

use serde_json::{Value, json};

/// Events that are sent and have no schema.
pub(super) const UNDOCUMENTED_EVENTS: [&str; 2] =
    ["response.apply_patch_call_operation_diff.delta", "response.apply_patch_call_operation_diff.done"];

pub(super) fn forgive(name: &str, value: &Value) -> Value {
    let mut value = value.clone();
    match name {
        "Response" => forgive_response(&mut value),
        "OpenAIFile" => forgive_file(&mut value),
        "ListFilesResponse" => {
            value["data"].as_array_mut().into_iter().flatten().for_each(forgive_file);
        }
        "ResponseErrorEvent" => forgive_error_event(&mut value),
        "ResponseFunctionCallArgumentsDoneEvent" => {
            if let Some(event) = value.as_object_mut() {
                event.entry("name").or_insert_with(|| json!(""));
            }
        }
        _ => {
            if value.get("response").is_some_and(Value::is_object) {
                forgive_response(&mut value["response"]);
            }
        }
    }
    value
}

fn forgive_response(response: &mut Value) {
    let Some(response) = response.as_object_mut() else { return };
    remove_null(response, "user");
    let status = response.get("status").and_then(Value::as_str).unwrap_or_default();
    // The examples of the description have it so for responses that failed or were cancelled, too.
    if matches!(status, "queued" | "in_progress" | "failed" | "cancelled") {
        remove_null(response, "usage");
    }
    if let Some(details) = response.get_mut("usage").and_then(|usage| usage.get_mut("input_tokens_details"))
        && let Some(details) = details.as_object_mut()
    {
        details.entry("cache_write_tokens").or_insert_with(|| json!(0));
    }
    let failed = response.get("status") == Some(&json!("failed"));
    if let Some(code) = response.get_mut("error").and_then(|error| error.get_mut("code"))
        && failed
        && code.is_string()
    {
        *code = json!("server_error");
    }
}

fn forgive_file(file: &mut Value) {
    if let Some(file) = file.as_object_mut() {
        remove_null(file, "expires_at");
        remove_null(file, "status_details");
    }
}

/// Real errors have their fields in an object of their own; the schema has them flat.
fn forgive_error_event(event: &mut Value) {
    let Some(event) = event.as_object_mut() else { return };
    if let Some(Value::Object(error)) = event.remove("error") {
        for name in ["code", "message", "param"] {
            if let Some(value) = error.get(name) {
                event.insert(name.to_owned(), value.clone());
            }
        }
    }
}

fn remove_null(object: &mut serde_json::Map<String, Value>, name: &str) {
    if object.get(name).is_some_and(Value::is_null) {
        object.shift_remove(name);
    }
}
