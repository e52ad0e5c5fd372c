//! Records as they are shown, the same by the API, the export and the command line.

use sandgate_store::{LedgerRecord, LedgerTree};
use serde_json::{Value, json};

/// One flat object: what all records have first, then what this kind tells.
#[must_use]
pub fn ledger_object(record: &LedgerRecord) -> Value {
    let mut object = json!({
        "id": record.id,
        "object": "ledger.record",
        "kind": record.kind,
        "request_id": record.request,
        "parent_id": record.parent,
        "status": record.status,
        "owner": record.owner.as_str(),
        "key_id": record.key,
        "model": record.model,
        "container_id": record.container,
        "began_at_ms": record.began_ms,
        "ended_at_ms": record.ended_ms,
    });
    if let Value::Object(fields) = &mut object {
        for (name, value) in &record.body {
            fields.entry(name).or_insert_with(|| value.clone());
        }
    }
    object
}

/// A request with what was done for it.
#[must_use]
pub fn ledger_tree(tree: &LedgerTree) -> Value {
    let mut object = ledger_object(&tree.request);
    object["children"] = tree.children.iter().map(ledger_object).collect();
    object["has_more"] = json!(tree.has_more);
    object
}
