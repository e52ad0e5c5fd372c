//! What ran, as the client sees it: an extra field of the message, `code_interpreter`, which clients that
//! do not know it ignore. Streamed it comes in deltas that add up the way all deltas do: texts grow,
//! entries of lists are told apart by `index`, everything else is said once.

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// The name of the field.
pub(super) const FIELD: &str = "code_interpreter";

#[derive(Debug, Default)]
pub(super) struct Shown {
    /// Set once code was about to run.
    pub(super) container: Option<String>,
    pub(super) calls: Vec<ShownCall>,
    pub(super) files: Vec<Value>,
    /// Paths that code wrote to.
    pub(super) written: BTreeSet<String>,
}

#[derive(Debug)]
pub(super) struct ShownCall {
    pub(super) id: String,
    pub(super) code: String,
    pub(super) status: &'static str,
    pub(super) outputs: Vec<Value>,
}

impl Shown {
    /// None where nothing ran and nothing is linked.
    pub(super) fn whole(&self) -> Option<Value> {
        if self.calls.is_empty() && self.files.is_empty() {
            return None;
        }
        let call = |call: &ShownCall| {
            let ShownCall { id, code, status, outputs } = call;
            json!({"id": id, "code": code, "status": status, "outputs": outputs})
        };
        let calls: Vec<Value> = self.calls.iter().map(call).collect();
        Some(json!({"container_id": self.container, "calls": calls, "files": self.files}))
    }
}

/// A delta about one call.
pub(super) fn about_call(index: usize, mut fields: Value) -> Value {
    fields["index"] = json!(index);
    about(json!({"calls": [fields]}))
}

pub(super) fn about(fields: Value) -> Value {
    json!({FIELD: fields})
}
