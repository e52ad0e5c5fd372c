//! Coming back to a sandbox: one that runs is extended, one that is paused is resumed.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Json;
use sandgate_core::{LeaseError, LeaseState, Principal};
use serde_json::{Value, json};

use super::super::Door;
use super::super::error::{E2bError, E2bResult};
use super::body::Fields;
use super::create::USUAL_SECOND;
use super::sandboxes::in_seconds;
use super::shown;
use super::wish::timeout;
use crate::lent::{Ids, key_of};
use crate::owner::Who;

type Answer = E2bResult<(StatusCode, Json<Value>)>;

pub(super) async fn first(
    State(door): State<Door>,
    Who(who): Who,
    Ids(id): Ids<String>,
    fields: Fields,
) -> Answer {
    let seconds = timeout(&fields, "timeout", &door.settings)?;
    let seconds = seconds.ok_or_else(|| E2bError::bad_request("'timeout' is missing"))?;
    connect(door, who, &id, seconds).await
}

pub(super) async fn second(
    State(door): State<Door>,
    Who(who): Who,
    Ids(id): Ids<String>,
    fields: Fields,
) -> Answer {
    let seconds = seconds_or_usual(&door, &fields)?;
    connect(door, who, &id, seconds).await
}

/// The old way: only for one that is paused.
pub(super) async fn resume(
    State(door): State<Door>,
    Who(who): Who,
    Ids(id): Ids<String>,
    fields: Fields,
) -> Answer {
    let seconds = seconds_or_usual(&door, &fields)?;
    let lease = door.lease(&who.owner, &id)?;
    if lease.state == LeaseState::Running {
        return Err(LeaseError::Running.into());
    }
    connect(door, who, &id, seconds).await
}

fn seconds_or_usual(door: &Door, fields: &Fields) -> E2bResult<u64> {
    let said = timeout(fields, "timeout", &door.settings)?;
    Ok(said.unwrap_or(USUAL_SECOND).min(door.settings.max_timeout.as_secs()))
}

async fn connect(door: Door, who: Principal, id: &str, seconds: u64) -> Answer {
    let lease = door.lease(&who.owner, id)?;
    let (ends, work, id) = (in_seconds(seconds), Arc::clone(&door), lease.id.clone());
    let joined = async move {
        if lease.state == LeaseState::Paused {
            match work.leases.resume(&id, Some(ends), &who.limits).await {
                Ok(_) => {
                    let change = move |details: &mut Value| {
                        details["timeout"] = json!(seconds);
                        details["key"] = json!(key_of(&who));
                        details["limits"] = json!(*who.limits);
                    };
                    return Ok((StatusCode::CREATED, work.leases.change_details(&id, change).await?));
                }
                // Somebody else was faster.
                Err(LeaseError::Running) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok((StatusCode::OK, work.leases.extend_to(&id, ends).await?))
    };
    let (status, lease) = door.to_the_end(joined).await?;
    Ok((status, Json(shown::made(&door, &lease))))
}
