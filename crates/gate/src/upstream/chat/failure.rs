//! Errors that come where a chunk should.

use serde_json::{Map, Value, json};

use crate::upstream::compose::Object;

/// An error in place of a chunk, with the four fields that every client expects.
pub(super) fn error_in(chunk: &Object) -> Option<Object> {
    let error = match chunk.get("error") {
        Some(Value::Object(error)) => error.clone(),
        Some(Value::String(message)) => Map::from_iter([("message".to_owned(), message.as_str().into())]),
        _ if chunk.get("object").is_some_and(|object| object == "error") => chunk.clone(),
        _ => return None,
    };
    let text = |name: &str| match error.get(name) {
        Some(Value::String(text)) => Value::from(text.as_str()),
        Some(Value::Number(number)) => number.to_string().into(),
        _ => Value::Null,
    };
    let or = |value: Value, otherwise: &str| if value.is_null() { otherwise.into() } else { value };
    let normal = json!({
        "type": or(text("type"), "server_error"),
        "code": or(text("code"), "server_error"),
        "message": or(text("message"), "The upstream failed without saying why."),
        "param": text("param"),
    });
    normal.as_object().cloned()
}
