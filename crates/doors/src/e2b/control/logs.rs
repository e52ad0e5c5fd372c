//! Logs of a sandbox's system. Here that is the server, which keeps none of a sandbox; what code prints goes to
//! whoever runs it, and is kept by nobody. So the lists are empty, and truly so.

use axum::extract::State;
use axum::response::Json;
use serde_json::{Value, json};

use super::super::Door;
use super::super::error::E2bResult;
use crate::lent::Ids;
use crate::owner::Caller;

pub(super) async fn first(
    State(door): State<Door>,
    Caller(owner): Caller,
    Ids(id): Ids<String>,
) -> E2bResult<Json<Value>> {
    door.lease(&owner, &id)?;
    Ok(Json(json!({"logs": [], "logEntries": []})))
}

pub(super) async fn second(
    State(door): State<Door>,
    Caller(owner): Caller,
    Ids(id): Ids<String>,
) -> E2bResult<Json<Value>> {
    door.lease(&owner, &id)?;
    Ok(Json(json!({"logs": []})))
}
