//! One sandbox: looked at, extended, paused, ended.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Json;
use sandgate_core::now_ms;
use serde_json::{Value, json};

use super::super::Door;
use super::super::error::{E2bError, E2bResult};
use super::body::Fields;
use super::shown;
use super::wish::timeout;
use crate::lent::Ids;
use crate::owner::Caller;

/// Seconds that a refresh gives when it does not say.
const USUAL_REFRESH: u64 = 60;

pub(super) async fn retrieve(
    State(door): State<Door>,
    Caller(owner): Caller,
    Ids(id): Ids<String>,
) -> E2bResult<Json<Value>> {
    let lease = door.lease(&owner, &id)?;
    Ok(Json(shown::detailed(&door, &lease)))
}

pub(super) async fn kill(
    State(door): State<Door>,
    Caller(owner): Caller,
    Ids(id): Ids<String>,
) -> E2bResult<StatusCode> {
    let lease = door.lease(&owner, &id)?;
    let work = Arc::clone(&door);
    door.to_the_end(async move { Ok(work.leases.delete(&lease.id).await?) }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// From now, be it sooner or later than it was.
pub(super) async fn set_timeout(
    State(door): State<Door>,
    Caller(owner): Caller,
    Ids(id): Ids<String>,
    fields: Fields,
) -> E2bResult<StatusCode> {
    let lease = door.lease(&owner, &id)?;
    let seconds = timeout(&fields, "timeout", &door.settings)?;
    let seconds = seconds.ok_or_else(|| E2bError::bad_request("'timeout' is missing"))?;
    door.leases.set_end(&lease.id, Some(in_seconds(seconds))).await?;
    door.leases.change_details(&lease.id, move |details| details["timeout"] = json!(seconds)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The old way to keep one alive: never sooner than it was.
pub(super) async fn refresh(
    State(door): State<Door>,
    Caller(owner): Caller,
    Ids(id): Ids<String>,
    fields: Fields,
) -> E2bResult<StatusCode> {
    let lease = door.lease(&owner, &id)?;
    let seconds = timeout(&fields, "duration", &door.settings)?.unwrap_or(USUAL_REFRESH);
    door.leases.extend_to(&lease.id, in_seconds(seconds)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// With everything in its memory, unless its files are to be all.
pub(super) async fn pause(
    State(door): State<Door>,
    Caller(owner): Caller,
    Ids(id): Ids<String>,
    fields: Fields,
) -> E2bResult<StatusCode> {
    let lease = door.lease(&owner, &id)?;
    let keeps_memory = fields.flag("memory")?.unwrap_or(true);
    let work = Arc::clone(&door);
    door.to_the_end(async move {
        let leases = &work.leases;
        Ok(if keeps_memory { leases.pause(&lease.id).await? } else { leases.pause_files(&lease.id).await? })
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) fn in_seconds(seconds: u64) -> u64 {
    now_ms().saturating_add(seconds.saturating_mul(1000))
}
