//! What this server has nothing for, each with its reason.

use axum::extract::{Path, State};
use axum::http::{StatusCode, Uri};
use axum::response::Json;
use serde_json::Value;

use super::super::Door;
use super::super::error::{Answered, Refusal};
use super::list::Page;
use crate::lent::form;
use crate::owner::Caller;

pub(super) async fn snapshot_of(
    State(door): State<Door>,
    Caller(owner): Caller,
    Path(id): Path<String>,
) -> Refusal {
    match door.lease(&owner, &id) {
        Err(refusal) => refusal,
        Ok(_) => Refusal::not_here("sandboxes cannot be copied here yet; pausing one keeps it as it is"),
    }
}

/// There can be none.
pub(super) async fn snapshots(uri: Uri) -> Answered<Json<Value>> {
    let mut page = Page::default();
    for (name, value) in form(uri.query().unwrap_or_default()) {
        page.read(&name, &value)?;
    }
    Ok(Json(page.of::<()>(&[], |()| Value::Null)))
}

pub(super) async fn snapshot(Path(id): Path<String>) -> Refusal {
    let message = format!("Snapshot {id} not found: this server makes none.");
    Refusal::new(StatusCode::NOT_FOUND, "SNAPSHOT::NOT_FOUND", message)
}

pub(super) async fn templates() -> Refusal {
    Refusal::not_here("there are no templates here: sandboxes are made from images")
}

pub(super) async fn pools() -> Refusal {
    Refusal::not_here("there are no named pools here; the server keeps sandboxes ready by itself")
}

pub(super) async fn network_policy() -> Refusal {
    Refusal::not_here("this is for sandboxes of templates; ask at the endpoint of port 18080")
}
