//! Snapshots: a sandbox's files and variables, kept to make others from. Memory and processes are not in them, so one
//! is there as soon as it was asked for.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::LOCATION;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Json, Response};
use sandgate_core::{Lease, LeaseState, Owner};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::details::Details;
use super::super::error::{Answered, Refusal};
use super::super::{Door, OpenSandboxDoor};
use super::body::{AnyFields, Problems};
use super::create::uuid;
use super::list::Page;
use crate::lent::{Ids, Kept, form, iso, keep};
use crate::owner::{Caller, Who};

/// The name of snapshots among the leases.
const DOOR: &str = "opensandbox-snapshot";
/// There is no other state: one that could not be made is not there.
const STATE: &str = "Ready";
const LONGEST_NAME: usize = 256;

/// What is kept beside files and variables.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Snapshot {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The sandbox it was taken of.
    sandbox: String,
    /// What that sandbox was made of.
    pub(super) image: String,
    pub(super) entrypoint: Vec<String>,
}

impl Snapshot {
    /// What a sandbox begins with that is made of no snapshot.
    pub(super) fn none(image: String) -> Self {
        Self { image, ..Self::default() }
    }

    pub(super) fn of(lease: &Lease) -> Self {
        Self::deserialize(&lease.details).unwrap_or_else(|error| {
            tracing::error!(lease = lease.id, %error, "the details of a snapshot cannot be read");
            Self::default()
        })
    }
}

fn shown(lease: &Lease) -> Value {
    let (snapshot, made) = (Snapshot::of(lease), iso(lease.started_ms));
    let status = json!({"state": STATE, "reason": "snapshot_ready", "lastTransitionAt": made});
    let mut shown =
        json!({"id": lease.id, "sandboxId": snapshot.sandbox, "status": status, "createdAt": made});
    if let Some(name) = snapshot.name {
        shown["name"] = name.into();
    }
    shown
}

pub(super) async fn create(
    State(door): State<Door>,
    Who(who): Who,
    Ids(id): Ids<String>,
    AnyFields(fields): AnyFields,
) -> Answered<Response> {
    let mut problems = Problems::default();
    let name = problems.text(&fields, "name").map(str::to_owned);
    problems.done()?;
    if let Some(name) = name.as_ref().filter(|name| name.is_empty() || name.len() > LONGEST_NAME) {
        let message = format!("'name': a name has 1 to {LONGEST_NAME} bytes, not {}", name.len());
        return Err(Refusal::invalid(message));
    }
    let lease = door.lease(&who.owner, &id)?;
    if lease.state == LeaseState::Paused {
        return Err(Refusal::not_running());
    }
    let work = Arc::clone(&door);
    let made = async move {
        let Details { image, entrypoint, .. } = (*Details::of(&lease)).clone();
        let details = json!(Snapshot { name, sandbox: lease.id.clone(), image, entrypoint });
        let id = uuid();
        let title = format!("opensandbox snapshot {id}");
        Ok(keep(&work.leases, who, &lease, Kept { id, door: DOOR, title, details }).await?)
    };
    let made = door.to_the_end(made).await?;
    let location = [(LOCATION, format!("/v1/snapshots/{}", made.id))];
    Ok((StatusCode::ACCEPTED, location, Json(shown(&made))).into_response())
}

pub(super) async fn list(State(door): State<Door>, Caller(owner): Caller, uri: Uri) -> Answered<Json<Value>> {
    let (mut page, mut sandbox, mut states) = (Page::default(), None, Vec::new());
    for (name, value) in form(uri.query().unwrap_or_default()) {
        match name.as_str() {
            "sandboxId" if !value.is_empty() => sandbox = Some(value),
            "state" => states.push(value),
            _ => page.read(&name, &value)?,
        }
    }
    // The youngest first.
    let mut found: Vec<_> = door.leases.list(DOOR, &owner).into_iter().rev().collect();
    let is_wanted = states.is_empty() || states.iter().any(|state| state.eq_ignore_ascii_case(STATE));
    found.retain(|lease| {
        is_wanted && sandbox.as_ref().is_none_or(|sandbox| Snapshot::of(lease).sandbox == *sandbox)
    });
    Ok(Json(page.of(&found, |lease| shown(lease))))
}

pub(super) async fn retrieve(
    State(door): State<Door>,
    Caller(owner): Caller,
    Ids(id): Ids<String>,
) -> Answered<Json<Value>> {
    let found = door.snapshot(&owner, &id)?;
    Ok(Json(shown(&found)))
}

pub(super) async fn delete(
    State(door): State<Door>,
    Caller(owner): Caller,
    Ids(id): Ids<String>,
) -> Answered<StatusCode> {
    let found = door.snapshot(&owner, &id)?;
    let work = Arc::clone(&door);
    door.to_the_end(async move { Ok(work.leases.delete(&found.id).await?) }).await?;
    Ok(StatusCode::NO_CONTENT)
}

impl OpenSandboxDoor {
    /// Another owner's is as good as none.
    pub(super) fn snapshot(&self, owner: &Owner, id: &str) -> Answered<Arc<Lease>> {
        self.leases.get(DOOR, owner, id).map_err(|_| {
            let message = format!("Snapshot {id} not found.");
            Refusal::new(StatusCode::NOT_FOUND, "SNAPSHOT::NOT_FOUND", message)
        })
    }
}

#[cfg(test)]
#[path = "snapshots_tests.rs"]
mod tests;
