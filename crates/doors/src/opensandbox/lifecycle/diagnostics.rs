//! What is known of a sandbox's past: the last of what its entrypoint said, and what became of it.

use axum::extract::State;
use axum::http::Uri;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Json, Response};
use sandgate_core::{Lease, LeaseState};
use serde_json::json;

use super::super::Door;
use super::super::details::Details;
use super::super::entry::Log;
use super::super::error::{Answered, Refusal};
use crate::lent::{Ids, form, iso};
use crate::owner::Caller;

const PLAIN: &str = "text/plain; charset=utf-8";
/// There is nothing but this.
const SCOPES: [&str; 2] = ["container", "lifecycle"];

pub(super) async fn logs(
    State(door): State<Door>,
    Caller(owner): Caller,
    Ids(id): Ids<String>,
    uri: Uri,
) -> Answered<Response> {
    let lease = door.lease(&owner, &id)?;
    let Log { text, truncated, .. } = door.state.entries.log(&id);
    describe(&lease, "logs", &uri, text, truncated)
}

pub(super) async fn events(
    State(door): State<Door>,
    Caller(owner): Caller,
    Ids(id): Ids<String>,
    uri: Uri,
) -> Answered<Response> {
    let lease = door.lease(&owner, &id)?;
    let mut lines = vec![format!("{} created and started", iso(lease.started_ms))];
    if let Some(changed) = Details::of(&lease).changed_ms {
        let what = match lease.state {
            LeaseState::Running => "resumed",
            LeaseState::Paused => "paused",
        };
        lines.push(format!("{} {what}", iso(changed)));
    }
    if let Some((at, end)) = door.state.entries.log(&id).ended {
        lines.push(format!("{} the entrypoint ended: {end}", iso(at)));
    }
    lines.sort();
    lines.push(String::new());
    describe(&lease, "events", &uri, lines.join("\n"), false)
}

/// With a scope as an object, without one as plain text, as older clients want it.
fn describe(lease: &Lease, kind: &str, uri: &Uri, content: String, truncated: bool) -> Answered<Response> {
    let query = form(uri.query().unwrap_or_default());
    let Some((_, scope)) = query.into_iter().find(|(name, _)| name == "scope") else {
        return Ok(([(CONTENT_TYPE.as_str(), PLAIN), ("deprecation", "true")], content).into_response());
    };
    if !SCOPES.contains(&scope.as_str()) {
        return Err(Refusal::invalid(format!("'scope': there is: {}", SCOPES.join(", "))));
    }
    let body = json!({
        "sandboxId": lease.id,
        "kind": kind,
        "scope": scope,
        "delivery": "inline",
        "contentType": PLAIN,
        "contentLength": content.len(),
        "content": content,
        "truncated": truncated,
    });
    Ok(Json(body).into_response())
}
