//! An item that a client puts into a conversation: as it is kept for those who list it, and as the model
//! will see it.

use sandgate_core::Owner;
use sandgate_store::{ItemRecord, Store, StoreError};
use serde_json::{Map, Value, json};

use crate::error::{GateError, Result};
use crate::history::{kind, rebuilt, record};

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

/// `at`: where the item is in the request, for the words of a refusal.
pub async fn kept_item(store: &Store, owner: &Owner, item: Value, at: &str) -> Result<ItemRecord> {
    let known = match item.get("id").and_then(Value::as_str) {
        Some(id) => match store.item(owner, id).await {
            Ok(record) => Some(record),
            Err(StoreError::NotFound) => None,
            Err(error) => return Err(error.into()),
        },
        None => None,
    };
    let model = match (kind(&item), known) {
        // The server has what the client may lack: outputs, encrypted thoughts.
        ("code_interpreter_call" | "reasoning" | "item_reference", Some(record)) => return Ok(record),
        ("item_reference", None) => return Err(no_such_item(&item, at)),
        ("code_interpreter_call", None) => rebuilt(&item),
        _ => vec![item.clone()],
    };
    let mut kept = record(item, model);
    if let Value::Object(fields) = &mut kept.body {
        complete(fields);
    }
    Ok(kept)
}

/// What lists always have and clients may leave out.
fn complete(fields: &mut Map<String, Value>) {
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    if WITH_STATUS.contains(&kind.as_str()) && !fields.get("status").is_some_and(Value::is_string) {
        fields.insert("status".to_owned(), json!("completed"));
    }
    match kind.as_str() {
        "reasoning" => {
            fields.entry("summary").or_insert_with(|| json!([]));
        }
        "code_interpreter_call" => {
            fields.entry("code").or_insert(Value::Null);
            fields.entry("outputs").or_insert(Value::Null);
        }
        _ => {}
    }
}

fn no_such_item(item: &Value, at: &str) -> GateError {
    let id = item.get("id").and_then(Value::as_str).unwrap_or_default();
    GateError::Invalid {
        message: format!("Item with id '{id}' not found."),
        param: Some(format!("{at}.id")),
        code: Some("item_not_found"),
    }
}

#[cfg(test)]
#[path = "kept_item_tests.rs"]
mod tests;
