//! The random padding of deltas, which hides their lengths from somebody who watches the encrypted
//! connection: delta and padding together are the next multiple of sixteen characters.

use sandgate_core::random_alphanumeric;
use serde_json::{Map, Value};

const BLOCK: usize = 16;

/// Padding for a delta of this many characters.
pub(crate) fn padding(length: usize) -> String {
    random_alphanumeric(BLOCK - length % BLOCK)
}

/// Gives an event the padding its delta should have, or takes it away where the client wants none.
pub(crate) fn apply(event: &mut Map<String, Value>, wanted: bool) {
    let Some(Value::String(delta)) = event.get("delta") else { return };
    let length = delta.chars().count();
    if !wanted {
        event.shift_remove("obfuscation");
    } else if !event.contains_key("obfuscation") && is_padded(event) {
        event.insert("obfuscation".to_owned(), Value::String(padding(length)));
    }
}

/// The kinds of deltas that recordings show padded.
fn is_padded(event: &Map<String, Value>) -> bool {
    let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
    matches!(
        kind,
        "response.output_text.delta"
            | "response.code_interpreter_call_code.delta"
            | "response.reasoning_summary_text.delta"
            | "response.function_call_arguments.delta"
            | "response.shell_call_command.delta"
            | "response.apply_patch_call_operation_diff.delta"
    )
}
