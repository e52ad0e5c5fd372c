//! Files and images in the client's messages: they go into the container, and those that only our own
//! files API knows are put into the message itself.

use sandgate_core::Owner;
use sandgate_store::Store;
use serde_json::{Map, Value, json};

use crate::error::Result;
use crate::gate::Gate;
use crate::input_files::{TakenFiles, take_files};

impl Gate {
    /// Puts the files of our files API that a request's messages name into them, for an upstream that the
    /// request is passed on to. False: there were none.
    pub async fn put_files_into(&self, owner: &Owner, body: &mut Map<String, Value>) -> Result<bool> {
        let Some(Value::Array(messages)) = body.get_mut("messages") else { return Ok(false) };
        let mut is_changed = false;
        take_each(messages, owner, &self.store, &mut TakenFiles::new(false, 0), &mut is_changed).await?;
        Ok(is_changed)
    }
}

/// `has_code`: whether code can open them.
pub(super) async fn take(
    messages: &mut [Value],
    owner: &Owner,
    store: &Store,
    has_code: bool,
) -> Result<TakenFiles> {
    let mut taken = TakenFiles::new(has_code, 0);
    take_each(messages, owner, store, &mut taken, &mut false).await?;
    Ok(taken)
}

async fn take_each(
    messages: &mut [Value],
    owner: &Owner,
    store: &Store,
    taken: &mut TakenFiles,
    is_changed: &mut bool,
) -> Result<()> {
    for message in messages {
        let Some(Value::Array(parts)) = message.get_mut("content") else { continue };
        for part in parts {
            let Some(flat) = flat(part) else { continue };
            let mut item = json!({"content": [flat.clone()]});
            take_files(&mut item, owner, store, taken).await?;
            if item["content"][0] != flat {
                *part = nested(item["content"][0].take());
                *is_changed = true;
            }
        }
    }
    Ok(())
}

/// A part as the Responses API writes it.
fn flat(part: &Value) -> Option<Value> {
    match part.get("type").and_then(Value::as_str) {
        Some("file") => {
            let mut flat = part.get("file")?.as_object()?.clone();
            flat.insert("type".to_owned(), json!("input_file"));
            Some(Value::Object(flat))
        }
        Some("image_url") => Some(json!({"type": "input_image", "image_url": part["image_url"]["url"]})),
        _ => None,
    }
}

/// A part that was replaced, as Chat Completions writes it.
fn nested(mut part: Value) -> Value {
    if part["type"] == "input_text" {
        return json!({"type": "text", "text": part["text"]});
    }
    if let Value::Object(file) = &mut part {
        file.shift_remove("type");
    }
    json!({"type": "file", "file": part})
}
