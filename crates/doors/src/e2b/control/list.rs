//! Sandboxes of an owner: by state, metadata, template and start, page by page.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, Uri};
use axum::response::{IntoResponse, Json, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sandgate_core::{Lease, LeaseState};
use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::super::details::Details;
use super::super::error::{E2bError, E2bResult};
use super::super::route::query;
use super::super::{DOOR, Door};
use super::{metadata, shown};
use crate::owner::Caller;

const NEXT_TOKEN: HeaderName = HeaderName::from_static("x-next-token");
const TOTAL_RUNNING: HeaderName = HeaderName::from_static("x-total-running");
const MOST: usize = 100;

#[derive(Debug)]
struct Asked {
    metadata: BTreeMap<String, String>,
    states: Vec<LeaseState>,
    template: Option<String>,
    started_after: Option<u64>,
    descending: bool,
    limit: usize,
    /// The last one of the page before.
    after: Option<(u64, String)>,
}

impl Asked {
    fn read(uri: &Uri, states: Vec<LeaseState>) -> E2bResult<Self> {
        let mut asked = Self {
            metadata: BTreeMap::new(),
            states,
            template: None,
            started_after: None,
            descending: true,
            limit: MOST,
            after: None,
        };
        let mut said_states = Vec::new();
        for (name, value) in query(uri) {
            match name.as_str() {
                "metadata" => asked.metadata.extend(metadata::read(&value)?),
                "state" => {
                    for state in value.split(',').filter(|state| !state.is_empty()) {
                        said_states.push(match state {
                            "running" => LeaseState::Running,
                            "paused" => LeaseState::Paused,
                            other => return Err(wrong("state", other)),
                        });
                    }
                }
                "template" => asked.template = Some(value),
                "startedAfter" => {
                    let time =
                        OffsetDateTime::parse(&value, &Rfc3339).map_err(|_| wrong("startedAfter", &value))?;
                    let ms = time.unix_timestamp_nanos() / 1_000_000;
                    asked.started_after = Some(u64::try_from(ms).unwrap_or(0));
                }
                "order" => {
                    asked.descending = match value.as_str() {
                        "asc" => false,
                        "desc" => true,
                        other => return Err(wrong("order", other)),
                    }
                }
                "limit" => {
                    let limit = value.parse().ok().filter(|limit| (1..=MOST).contains(limit));
                    asked.limit = limit.ok_or_else(|| wrong("limit", &value))?;
                }
                "nextToken" if !value.is_empty() => {
                    asked.after = Some(place_of(&value).ok_or_else(|| wrong("nextToken", &value))?);
                }
                _ => {}
            }
        }
        if !said_states.is_empty() {
            asked.states = said_states;
        }
        Ok(asked)
    }

    fn takes(&self, lease: &Lease) -> bool {
        let has = |(name, value): (&String, &String)| lease.metadata.get(name) == Some(value);
        self.states.contains(&lease.state)
            && self.metadata.iter().all(has)
            && self.started_after.is_none_or(|after| lease.started_ms > after)
            && self.template.as_ref().is_none_or(|template| Details::of(lease).template == *template)
    }

    fn is_beyond(&self, lease: &Lease) -> bool {
        let Some((started, id)) = &self.after else { return true };
        let (its, place) = ((lease.started_ms, &lease.id), (*started, id));
        if self.descending { its < place } else { its > place }
    }
}

fn wrong(name: &str, value: &str) -> E2bError {
    E2bError::bad_request(format!("'{name}' cannot be '{value}'"))
}

/// Where a page ends. Its entry may be gone by the time the next one is asked for.
pub(super) fn token_of(lease: &Lease) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}.{}", lease.started_ms, lease.id))
}

pub(super) fn place_of(token: &str) -> Option<(u64, String)> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(token).ok()?).ok()?;
    let (started, id) = text.split_once('.')?;
    Some((started.parse().ok()?, id.to_owned()))
}

/// The old list: those that run, all of them.
pub(super) async fn first(
    State(door): State<Door>,
    Caller(owner): Caller,
    uri: Uri,
) -> E2bResult<Json<Vec<Value>>> {
    let asked = Asked::read(&uri, vec![LeaseState::Running])?;
    let leases = door.leases.list(DOOR, &owner);
    let taken = leases.iter().rev().filter(|lease| asked.takes(lease));
    Ok(Json(taken.map(|lease| shown::listed(&door, lease)).collect()))
}

pub(super) async fn second(State(door): State<Door>, Caller(owner): Caller, uri: Uri) -> E2bResult<Response> {
    let asked = Asked::read(&uri, vec![LeaseState::Running, LeaseState::Paused])?;
    let mut leases: Vec<Arc<Lease>> = door.leases.list(DOOR, &owner);
    let running = leases.iter().filter(|lease| lease.state == LeaseState::Running).count();
    if asked.descending {
        leases.reverse();
    }
    leases.retain(|lease| asked.takes(lease) && asked.is_beyond(lease));
    let has_more = leases.len() > asked.limit;
    leases.truncate(asked.limit);
    let body: Vec<_> = leases.iter().map(|lease| shown::listed(&door, lease)).collect();
    let mut response = Json(body).into_response();
    response.headers_mut().insert(TOTAL_RUNNING, HeaderValue::from(running));
    if has_more
        && let Some(last) = leases.last()
        && let Ok(token) = HeaderValue::try_from(token_of(last))
    {
        response.headers_mut().insert(NEXT_TOKEN, token);
    }
    Ok(response)
}
