//! An item that a client puts into a conversation: as it is kept for those who list it, and as the model
//! will see it.

use sandgate_core::Owner;
use sandgate_store::{ItemRecord, Store};
use serde_json::Value;

use crate::error::{GateError, Result};
use crate::history::{kind, known, rebuilt, record, without_secrets};

/// `at`: where the item is in the request, for the words of a refusal.
pub async fn kept_item(store: &Store, owner: &Owner, item: Value, at: &str) -> Result<ItemRecord> {
    let known = known(store, owner, &item).await?;
    let model = match (kind(&item), known) {
        // The server has what the client may lack: outputs, encrypted thoughts.
        ("code_interpreter_call" | "reasoning" | "item_reference", Some(record)) => return Ok(record),
        ("item_reference", None) => return Err(no_such_item(&item, at)),
        ("code_interpreter_call", None) => rebuilt(&item),
        _ => vec![item.clone()],
    };
    Ok(without_secrets(record(item, model)))
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
