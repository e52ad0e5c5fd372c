//! `POST /sandboxes/{id}/fork`: others with the files, the variables and the ways of a sandbox that runs. They start
//! with fresh processes: memory is not copied.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Json;
use sandgate_core::{Lease, LeaseState, Principal};
use serde_json::{Value, json};

use super::super::details::Details;
use super::super::error::{E2bError, E2bResult};
use super::super::{Door, E2bDoor};
use super::body::Fields;
use super::create::{Source, USUAL_FIRST};
use super::network::Asked;
use super::shown;
use super::wish::{Wish, timeout};
use crate::lent::Ids;
use crate::owner::Who;

const MOST: u64 = 20;

pub(super) async fn fork(
    State(door): State<Door>,
    Who(who): Who,
    Ids(id): Ids<String>,
    fields: Fields,
) -> E2bResult<(StatusCode, Json<Vec<Value>>)> {
    let seconds = timeout(&fields, "timeout", &door.settings)?.unwrap_or(USUAL_FIRST);
    let seconds = seconds.min(door.settings.max_timeout.as_secs());
    let count = fields.number("count")?.unwrap_or(1);
    if !(1..=MOST).contains(&count) {
        return Err(E2bError::bad_request(format!("'count' must be between 1 and {MOST}")));
    }
    let lease = door.lease(&who.owner, &id)?;
    if lease.state == LeaseState::Paused {
        let message = format!("sandbox '{}' is paused and cannot be forked; resume it first", lease.id);
        return Err(E2bError::conflict(message));
    }
    let work = Arc::clone(&door);
    let forks = door.to_the_end(async move { Ok(work.fork(&who, lease, seconds, count).await) }).await?;
    Ok((StatusCode::CREATED, Json(forks)))
}

impl E2bDoor {
    /// Each of them, or why there is none. The first that is made is what the others are copies of: they all have
    /// the files of one moment, and the sandbox itself stands still but once.
    async fn fork(&self, who: &Principal, of: Arc<Lease>, seconds: u64, count: u64) -> Vec<Value> {
        let (mut forks, mut from) = (Vec::new(), Arc::clone(&of));
        for _ in 0..count {
            let made = self.make(who.clone(), wish_like(&of, seconds), None, Some(Source::of(&from))).await;
            forks.push(match made {
                Ok(lease) => {
                    let shown = json!({"sandbox": shown::made(self, &lease)});
                    from = lease;
                    shown
                }
                Err(error) => json!({"error": error.body()}),
            });
        }
        forks
    }
}

/// All that its maker asked for, but for the time.
fn wish_like(lease: &Lease, seconds: u64) -> Wish {
    let details = Details::of(lease);
    Wish {
        template: details.template.clone(),
        timeout: seconds,
        on_end: lease.on_end,
        auto_resume: lease.wakes,
        metadata: lease.metadata.clone(),
        env: details.env.clone(),
        network: details.network.clone(),
        allow_internet: details.allow_internet,
        // It was read once already; what cannot be read any more opens nothing.
        reach: Asked::read(details.network.as_ref().and_then(Value::as_object), details.allow_internet)
            .unwrap_or_else(|_| Asked::nothing()),
    }
}

#[cfg(test)]
#[path = "fork_tests.rs"]
mod tests;
