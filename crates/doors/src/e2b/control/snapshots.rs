//! Snapshots: a sandbox's files and variables, kept to make others from. Memory and processes are not in them.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Json, Response};
use sandgate_core::{Lease, LeaseError, Owner, Principal, random_alphanumeric};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::details::Details;
use super::super::error::{E2bError, E2bResult};
use super::super::route::query;
use super::super::{Door, E2bDoor};
use super::body::Fields;
use super::snapshot_name::{DEFAULT_TAG, Name};
use super::{list as pages, templates};
use crate::lent::{Ids, Kept, keep};
use crate::owner::{Caller, Who};

/// The name of snapshots among the leases: containers that never run, with nobody's time on them.
const DOOR: &str = "e2b-snapshot";
const ID_LENGTH: usize = 20;
const NEXT_TOKEN: HeaderName = HeaderName::from_static("x-next-token");
const MOST: usize = 100;

/// What is kept beside the files.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Snapshot {
    /// As its maker named it.
    name: Option<Name>,
    /// The sandbox it was taken of.
    sandbox: String,
    /// Variables of that sandbox.
    pub(super) env: BTreeMap<String, String>,
}

impl Snapshot {
    pub(super) fn of(lease: &Lease) -> Self {
        Self::deserialize(&lease.details).unwrap_or_else(|error| {
            tracing::error!(lease = lease.id, %error, "the details of a snapshot cannot be read");
            Self::default()
        })
    }

    /// As E2B shows it: by its name where it has one.
    fn shown(&self, lease: &Lease) -> Value {
        match &self.name {
            Some(name) => json!({"snapshotID": name.to_string(), "names": [name.to_string()]}),
            None => json!({"snapshotID": format!("{}:{DEFAULT_TAG}", lease.id), "names": []}),
        }
    }
}

pub(super) async fn create(
    State(door): State<Door>,
    Who(who): Who,
    Ids(id): Ids<String>,
    fields: Fields,
) -> E2bResult<(StatusCode, Json<Value>)> {
    // With memory or without: it is never in there.
    fields.flag("memory")?;
    let name = fields.text("name")?.map(Name::parse).transpose()?;
    if let Some(name) = &name
        && templates::check(&door.settings, &name.alias).is_ok()
    {
        let message = format!("'{}' is the name of a template of this server", name.alias);
        return Err(E2bError::bad_request(message));
    }
    let lease = door.lease(&who.owner, &id)?;
    let work = Arc::clone(&door);
    let made = door.to_the_end(async move { work.take_snapshot(who, &lease, name).await }).await?;
    Ok((StatusCode::CREATED, Json(Snapshot::of(&made).shown(&made))))
}

pub(super) async fn list(State(door): State<Door>, Caller(owner): Caller, uri: Uri) -> E2bResult<Response> {
    let (mut sandbox, mut name, mut after, mut limit) = (None, None, None, MOST);
    for (key, value) in query(&uri) {
        let wrong = || E2bError::bad_request(format!("'{key}' cannot be '{value}'"));
        match key.as_str() {
            "sandboxID" if !value.is_empty() => sandbox = Some(value),
            "name" if !value.is_empty() => name = Some(value),
            "nextToken" if !value.is_empty() => after = Some(value),
            "limit" => {
                let asked = value.parse().ok().filter(|limit| (1..=MOST).contains(limit));
                limit = asked.ok_or_else(wrong)?;
            }
            _ => {}
        }
    }
    // The youngest first.
    let mut all = door.leases.list(DOOR, &owner);
    all.reverse();
    if let Some(last) = after {
        let place = pages::place_of(&last);
        let place = place.ok_or_else(|| E2bError::bad_request("'nextToken' is none of this server's"))?;
        all.retain(|lease| (lease.started_ms, &lease.id) < (place.0, &place.1));
    }
    all.retain(|lease| {
        let snapshot = Snapshot::of(lease);
        let is_named = |wanted: &String| snapshot.name.as_ref().is_some_and(|name| name.answers_to(wanted));
        let sandbox = sandbox.as_deref().map(|id| super::sandbox_id(id).unwrap_or(id));
        sandbox.is_none_or(|id| snapshot.sandbox == id) && name.as_ref().is_none_or(is_named)
    });
    let has_more = all.len() > limit;
    all.truncate(limit);
    let shown: Vec<_> = all.iter().map(|lease| Snapshot::of(lease).shown(lease)).collect();
    let mut response = Json(shown).into_response();
    if has_more
        && let Some(last) = all.last()
        && let Ok(token) = HeaderValue::try_from(pages::token_of(last))
    {
        response.headers_mut().insert(NEXT_TOKEN, token);
    }
    Ok(response)
}

/// The route is that of templates; those of the server itself stay.
pub(super) async fn delete(
    State(door): State<Door>,
    Caller(owner): Caller,
    Ids(name): Ids<String>,
) -> E2bResult<StatusCode> {
    if templates::check(&door.settings, &name).is_ok() {
        let message = "this template is the server's own and cannot be deleted";
        return Err(E2bError::new(StatusCode::FORBIDDEN, message));
    }
    let found = door.snapshot(&owner, &name)?;
    let work = Arc::clone(&door);
    door.to_the_end(async move { Ok(work.leases.delete(&found.id).await?) }).await?;
    Ok(StatusCode::NO_CONTENT)
}

impl E2bDoor {
    /// By its id or its name; another owner's is as good as none.
    pub(super) fn snapshot(&self, owner: &Owner, name: &str) -> E2bResult<Arc<Lease>> {
        let id = name.strip_suffix(&format!(":{DEFAULT_TAG}")).unwrap_or(name);
        if let Ok(found) = self.leases.get(DOOR, owner, id) {
            return Ok(found);
        }
        let found = Name::parse(name).ok().and_then(|name| self.named(owner, &name));
        found.ok_or_else(|| E2bError::not_found(format!("template '{name}' not found")))
    }

    /// The youngest, should one that it replaced still be there.
    fn named(&self, owner: &Owner, name: &Name) -> Option<Arc<Lease>> {
        let all = self.leases.list(DOOR, owner);
        all.into_iter().rfind(|lease| Snapshot::of(lease).name.as_ref() == Some(name))
    }

    async fn take_snapshot(&self, who: Principal, of: &Lease, name: Option<Name>) -> E2bResult<Arc<Lease>> {
        // One at a time under a name, where there is only one: those before it go when the new one is there.
        let _turn = match &name {
            Some(name) => Some(self.state.0.once.turn(&who.owner, &format!("snapshot {name}")).await),
            None => None,
        };
        let mut replaced = self.leases.list(DOOR, &who.owner);
        replaced.retain(|lease| name.is_some() && Snapshot::of(lease).name == name);
        let id = format!("s{}", random_alphanumeric(ID_LENGTH).to_ascii_lowercase());
        let env = Details::of(of).env.clone();
        let details = json!(Snapshot { name, sandbox: of.id.clone(), env });
        let title = format!("e2b snapshot {id}");
        let made = keep(&self.leases, who, of, Kept { id, door: DOOR, title, details }).await?;
        for older in replaced {
            match self.leases.delete(&older.id).await {
                Ok(()) | Err(LeaseError::NotFound) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(made)
    }
}

#[cfg(test)]
#[path = "snapshots_tests.rs"]
mod tests;
