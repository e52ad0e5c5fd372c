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

/// What the operator knows of its upstreams, and a key does not.
const OF_UPSTREAMS: [&str; 3] = ["upstream", "upstream_model", "upstream_request_id"];

/// The same for the key itself.
pub(super) fn own_object(record: &LedgerRecord) -> Value {
    let mut object = ledger_object(record);
    if let Value::Object(fields) = &mut object {
        fields.retain(|name, _| !OF_UPSTREAMS.contains(&name.as_str()));
    }
    object
}

/// A request with what was done for it.
#[must_use]
pub fn ledger_tree(tree: &LedgerTree) -> Value {
    self::tree(tree, ledger_object)
}

pub(super) fn tree(tree: &LedgerTree, show: fn(&LedgerRecord) -> Value) -> Value {
    let mut object = show(&tree.request);
    object["children"] = tree.children.iter().map(show).collect();
    object["has_more"] = json!(tree.has_more);
    object
}
