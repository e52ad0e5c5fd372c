//! A sandbox as OpenSandbox shows it. What is not there is left out: its clients stumble over nulls.

use sandgate_core::{Lease, LeaseState};
use serde_json::{Map, Value, json};

use super::super::details::Details;
use crate::lent::iso;

/// To whoever made it.
pub(super) fn made(lease: &Lease) -> Value {
    Value::Object(common(lease, &Details::of(lease)))
}

/// In full.
pub(super) fn detailed(lease: &Lease) -> Value {
    let details = Details::of(lease);
    let mut shown = common(lease, &details);
    match &details.snapshot {
        Some(snapshot) => shown.insert("snapshotId".to_owned(), json!(snapshot)),
        None => shown.insert("image".to_owned(), json!({"uri": details.image})),
    };
    if !details.extensions.is_empty() {
        shown.insert("extensions".to_owned(), json!(details.extensions));
    }
    Value::Object(shown)
}

pub(super) fn state(lease: &Lease) -> &'static str {
    match lease.state {
        LeaseState::Running => "Running",
        LeaseState::Paused => "Paused",
    }
}

fn common(lease: &Lease, details: &Details) -> Map<String, Value> {
    let mut shown = Map::new();
    shown.insert("id".to_owned(), lease.id.clone().into());
    shown.insert("status".to_owned(), status(lease, details));
    if !lease.metadata.is_empty() {
        shown.insert("metadata".to_owned(), json!(lease.metadata));
    }
    if let Some(platform) = &details.platform {
        shown.insert("platform".to_owned(), platform.clone());
    }
    if let Some(ends) = lease.ends_ms {
        shown.insert("expiresAt".to_owned(), iso(ends).into());
    }
    shown.insert("createdAt".to_owned(), iso(lease.started_ms).into());
    shown.insert("entrypoint".to_owned(), json!(details.entrypoint));
    shown
}

fn status(lease: &Lease, details: &Details) -> Value {
    let (reason, message) = match lease.state {
        LeaseState::Running => ("CONTAINER_RUNNING", "The sandbox is running."),
        LeaseState::Paused => ("CONTAINER_PAUSED", "The sandbox is paused."),
    };
    let changed = details.changed_ms.unwrap_or(lease.started_ms);
    json!({"state": state(lease), "reason": reason, "message": message, "lastTransitionAt": iso(changed)})
}
