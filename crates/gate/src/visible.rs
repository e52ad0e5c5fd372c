//! Items as a client asked to see them. What code printed and drew, and the model's encrypted thoughts,
//! are kept whole and shown to those who named them in `include`.

use serde_json::{Map, Value};

use crate::request::INCLUDE_OUTPUTS;
use crate::thoughts::INCLUDE_THOUGHTS;

/// The item for somebody who asked with this `include`. The key `outputs` of a code call is always
/// there, as some clients refuse the whole item without it.
#[must_use]
pub fn visible(mut item: Value, include: &[String]) -> Value {
    let asked = |what: &str| include.iter().any(|name| name == what);
    if let Value::Object(fields) = &mut item {
        match fields.get("type").and_then(Value::as_str) {
            Some("code_interpreter_call") => show_code_call(fields, asked(INCLUDE_OUTPUTS)),
            // The gate asks for them so that the model can go on; that does not make them the client's.
            Some("reasoning") if !asked(INCLUDE_THOUGHTS) => {
                fields.shift_remove("encrypted_content");
            }
            _ => {}
        }
    }
    item
}

fn show_code_call(fields: &mut Map<String, Value>, with_outputs: bool) {
    if !with_outputs {
        fields.insert("outputs".to_owned(), Value::Null);
    } else if !fields.get("outputs").is_some_and(Value::is_array) {
        fields.insert("outputs".to_owned(), Value::Array(Vec::new()));
    }
}

#[cfg(test)]
#[path = "visible_tests.rs"]
mod tests;
