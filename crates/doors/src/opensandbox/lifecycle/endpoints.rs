//! Where a port of a sandbox is to be reached, and what must be sent there. Always through this server, at the
//! address by which the client came: no port of its own is ever opened for a sandbox.

use axum::extract::State;
use axum::http::header::HOST;
use axum::http::uri::Authority;
use axum::http::{Extensions, HeaderMap, Uri};
use axum::response::Json;
use serde_json::{Value, json};

use super::super::Door;
use super::super::details::Details;
use super::super::error::{Answered, Refusal};
use super::super::front::Versioned;
use super::super::proxy::{port_number, token};
use crate::lent::{Ids, form};
use crate::owner::Caller;

pub(super) async fn endpoint(
    State(door): State<Door>,
    Caller(owner): Caller,
    Ids((id, port)): Ids<(String, String)>,
    headers: HeaderMap,
    extensions: Extensions,
    uri: Uri,
) -> Answered<Json<Value>> {
    let port = port_number(&port)?;
    let lease = door.lease(&owner, &id)?;
    if form(uri.query().unwrap_or_default()).iter().any(|(name, _)| name == "expires") {
        return Err(Refusal::invalid(
            "'expires': there are no signed routes here; every endpoint takes the headers that come with it",
        ));
    }
    let host = host(&headers, &uri)?;
    let version = if extensions.get::<Versioned>().is_some() { "/v1" } else { "" };
    let details = Details::of(&lease);
    let (name, token) = token(&details, port);
    Ok(Json(json!({
        "endpoint": format!("{host}{version}/sandboxes/{}/proxy/{port}", lease.id),
        "headers": {name: token},
    })))
}

/// By which name the client found this server; it is the one that leads back.
fn host(headers: &HeaderMap, uri: &Uri) -> Answered<Authority> {
    let text = headers.get(HOST).and_then(|host| host.to_str().ok());
    let named = text.and_then(|text| text.parse::<Authority>().ok());
    let plain = |host: &Authority| !host.as_str().contains('@');
    let found = named.or_else(|| uri.authority().cloned()).filter(plain);
    found.ok_or_else(|| Refusal::invalid("the request does not say by which host it came"))
}
