//! One sandbox: looked at, paused, resumed, extended, named, ended.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Json;
use sandgate_core::{LeaseState, now_ms};
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::super::Door;
use super::super::error::{Answered, Refusal};
use super::body::{Fields, Problems};
use super::{metadata, shown};
use crate::lent::{Ids, iso, key_of};
use crate::owner::{Caller, Who};

pub(super) async fn retrieve(
    State(door): State<Door>,
    Caller(owner): Caller,
    Ids(id): Ids<String>,
) -> Answered<Json<Value>> {
    Ok(Json(shown::detailed(&*door.lease(&owner, &id)?)))
}

pub(super) async fn delete(
    State(door): State<Door>,
    Caller(owner): Caller,
    Ids(id): Ids<String>,
) -> Answered<StatusCode> {
    let lease = door.lease(&owner, &id)?;
    let work = Arc::clone(&door);
    door.to_the_end(async move { Ok(work.leases.delete(&lease.id).await?) }).await?;
    door.state.entries.forget(&id);
    Ok(StatusCode::NO_CONTENT)
}

/// With everything in its memory. Its time goes on.
pub(super) async fn pause(
    State(door): State<Door>,
    Caller(owner): Caller,
    Ids(id): Ids<String>,
) -> Answered<StatusCode> {
    let lease = door.lease(&owner, &id)?;
    let work = Arc::clone(&door);
    let paused = async move {
        work.leases.pause(&lease.id).await?;
        Ok(work.leases.change_details(&lease.id, |details| details["changed_ms"] = json!(now_ms())).await?)
    };
    door.to_the_end(paused).await?;
    Ok(StatusCode::ACCEPTED)
}

pub(super) async fn resume(
    State(door): State<Door>,
    Who(who): Who,
    Ids(id): Ids<String>,
) -> Answered<StatusCode> {
    let lease = door.lease(&who.owner, &id)?;
    if lease.state == LeaseState::Running {
        return Err(Refusal::not_paused());
    }
    let work = Arc::clone(&door);
    let resumed = async move {
        let lease = work.leases.resume(&lease.id, lease.ends_ms, &who.limits).await?;
        let change = move |details: &mut Value| {
            details["changed_ms"] = json!(now_ms());
            details["key"] = json!(key_of(&who));
            details["limits"] = json!(*who.limits);
        };
        Ok(work.leases.change_details(&lease.id, change).await?)
    };
    door.to_the_end(resumed).await?;
    Ok(StatusCode::ACCEPTED)
}

/// To a moment in the future, be it sooner or later than it was.
pub(super) async fn renew(
    State(door): State<Door>,
    Caller(owner): Caller,
    Ids(id): Ids<String>,
    Fields(fields): Fields,
) -> Answered<Json<Value>> {
    let lease = door.lease(&owner, &id)?;
    let mut problems = Problems::default();
    let until = match fields.get("expiresAt") {
        None => {
            problems.missing(&["expiresAt"], &json!(fields));
            None
        }
        Some(value) => {
            let until = value.as_str().and_then(moment);
            if until.is_none() {
                let message = "Input should be a valid datetime";
                problems.add("datetime_parsing", &["expiresAt"], message, value);
            }
            until
        }
    };
    problems.done()?;
    let until = until.unwrap_or_default();
    let wrong = |status, message: String| Err(Refusal::new(status, "DOCKER::INVALID_EXPIRATION", message));
    if until <= now_ms() {
        return wrong(StatusCode::BAD_REQUEST, "New expiration time must be in the future.".to_owned());
    }
    let most = door.settings.max_timeout;
    if until > now_ms().saturating_add(u64::try_from(most.as_millis()).unwrap_or(u64::MAX)) {
        let message = format!("a sandbox may last {} seconds from now at most here", most.as_secs());
        return wrong(StatusCode::BAD_REQUEST, message);
    }
    if lease.ends_ms.is_none() {
        let message = format!("Sandbox {id} does not have automatic expiration enabled.");
        return wrong(StatusCode::CONFLICT, message);
    }
    let lease = door.leases.set_end(&lease.id, Some(until)).await?;
    Ok(Json(json!({"expiresAt": iso(lease.ends_ms.unwrap_or(until))})))
}

/// Milliseconds since 1970. One without a zone is in UTC.
fn moment(text: &str) -> Option<u64> {
    let parse = |text: &str| OffsetDateTime::parse(text, &Rfc3339).ok();
    let time = parse(text).or_else(|| parse(&format!("{text}Z")))?;
    u64::try_from(time.unix_timestamp_nanos() / 1_000_000).ok().or(Some(0))
}

pub(super) async fn change_metadata(
    State(door): State<Door>,
    Caller(owner): Caller,
    Ids(id): Ids<String>,
    Fields(patch): Fields,
) -> Answered<Json<Value>> {
    let lease = door.lease(&owner, &id)?;
    let lease = door.leases.set_metadata(&lease.id, metadata::merged(&lease.metadata, &patch)?).await?;
    Ok(Json(shown::detailed(&lease)))
}
