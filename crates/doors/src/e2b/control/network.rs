//! What a sandbox may reach: nothing, so far. Whoever asks for the internet in general still gets a sandbox,
//! as the operator's rule goes before the client's; whoever names what it must reach is told that it cannot.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use sandgate_core::LeaseState;
use serde_json::{Map, Value, json};

use super::super::Door;
use super::super::error::{E2bError, E2bResult};
use super::InPath;
use super::body::Fields;
use crate::owner::Caller;

/// What can only be granted by a network.
const REACHING_OUT: [&str; 3] = ["allowOut", "egressProxy", "rules"];

pub(super) fn check(network: Option<&Map<String, Value>>) -> E2bResult<()> {
    let Some(network) = network else { return Ok(()) };
    for name in REACHING_OUT {
        let asked = match network.get(name) {
            None | Some(Value::Null) => false,
            Some(Value::Array(items)) => !items.is_empty(),
            Some(Value::Object(fields)) => !fields.is_empty(),
            Some(_) => return Err(E2bError::bad_request(format!("'network.{name}' has the wrong type"))),
        };
        if asked {
            return Err(E2bError::bad_request(format!(
                "'network.{name}' cannot be granted: sandboxes of this server have no network"
            )));
        }
    }
    match network.get("allowPublicTraffic") {
        None | Some(Value::Null | Value::Bool(_)) => Ok(()),
        Some(_) => Err(E2bError::bad_request("'network.allowPublicTraffic' must be true or false")),
    }
}

/// Replaces the rules for what the sandbox may reach; those for who may reach it stay.
pub(super) async fn update(
    State(door): State<Door>,
    Caller(owner): Caller,
    Path(id): InPath,
    fields: Fields,
) -> E2bResult<StatusCode> {
    let lease = door.lease(&owner, &id)?;
    check(Some(&fields.fields))?;
    let allow_internet = fields.flag("allow_internet_access")?;
    if lease.state == LeaseState::Paused {
        return Err(E2bError::conflict("the sandbox is paused; resume it first"));
    }
    let Fields { fields: mut new, .. } = fields;
    new.shift_remove("allow_internet_access");
    let change = move |details: &mut Value| {
        for name in ["allowPublicTraffic", "maskRequestHost"] {
            if let Some(kept) = details["network"].get(name) {
                new.insert(name.to_owned(), kept.clone());
            }
        }
        details["network"] = Value::Object(new);
        details["allow_internet"] = json!(allow_internet);
    };
    door.leases.change_details(&lease.id, change).await?;
    Ok(StatusCode::NO_CONTENT)
}
