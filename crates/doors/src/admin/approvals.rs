//! What waits for a person is shown here, and decided, with the master key only.

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Json;
use axum::routing::get;
use axum::{Extension, Router};
use sandgate_gate::{Approvals, CannotDecide, Decider, GateError, only_known};
use serde_json::{Map, Value, json};

use crate::access::only_master;
use crate::openai::{ApiError, ApiResult, InPath, JsonBody, Query, wrong_method};
use crate::owner::Who;
use crate::stopping::Stops;

/// How long a request may wait for something to decide. Proxies close what says nothing for longer.
const LONGEST_WAIT: u64 = 50;

#[derive(Clone, Debug)]
pub struct ApprovalsDoor {
    pub approvals: Approvals,
}

impl ApprovalsDoor {
    pub fn router(self) -> Router {
        Router::new()
            .route("/v1/admin/approvals", get(list))
            .route("/v1/admin/approvals/{id}", get(retrieve).post(decide))
            .method_not_allowed_fallback(wrong_method)
            .with_state(self)
    }
}

/// `wait`: seconds to wait for something to decide, or, with `version`, for a change since that version.
async fn list(
    State(door): State<ApprovalsDoor>,
    Who(who): Who,
    stops: Option<Extension<Stops>>,
    query: Query,
) -> ApiResult<Json<Value>> {
    only_master(&who)?;
    let version = number(&query, "version", u64::MAX)?;
    let (held, version) = match number(&query, "wait", LONGEST_WAIT)? {
        None => door.approvals.held(),
        Some(seconds) => tokio::select! {
            held = door.approvals.held_after(version, Duration::from_secs(seconds)) => held,
            // A server that ends is not held up by those who look on.
            () = Stops::begun(stops) => door.approvals.held(),
        },
    };
    Ok(Json(json!({"object": "list", "data": held, "version": version})))
}

async fn retrieve(
    State(door): State<ApprovalsDoor>,
    Who(who): Who,
    InPath(id): InPath<String>,
) -> ApiResult<Json<Value>> {
    only_master(&who)?;
    let held = door.approvals.held_one(&id).ok_or_else(|| refusal(CannotDecide::NoSuch, &id))?;
    Ok(Json(json!(held)))
}

async fn decide(
    State(door): State<ApprovalsDoor>,
    Who(who): Who,
    InPath(id): InPath<String>,
    JsonBody(fields): JsonBody,
) -> ApiResult<Json<Value>> {
    only_master(&who)?;
    let (approved, reason) = read(&fields)?;
    door.approvals.answer(&id, Decider::Master, approved, reason).map_err(|error| refusal(error, &id))?;
    let decision = if approved { "approve" } else { "deny" };
    tracing::info!(approval = id, decision, "a person decided");
    Ok(Json(json!({"id": id, "object": "approval", "decision": decision, "reason": reason})))
}

fn read(fields: &Map<String, Value>) -> ApiResult<(bool, Option<&str>)> {
    only_known(fields, "", &["decision", "reason"])?;
    let approved = match fields.get("decision") {
        None => return Err(GateError::missing("decision").into()),
        Some(Value::String(word)) if word == "approve" => true,
        Some(Value::String(word)) if word == "deny" => false,
        Some(Value::String(word)) => {
            let message = format!("Invalid value: '{word}'. Supported values are: 'approve' and 'deny'.");
            return Err(GateError::bad_value("decision", message).into());
        }
        Some(other) => return Err(GateError::wrong_type("decision", "a string", other).into()),
    };
    match fields.get("reason") {
        None | Some(Value::Null) => Ok((approved, None)),
        Some(Value::String(reason)) => Ok((approved, Some(reason))),
        Some(other) => Err(GateError::wrong_type("reason", "a string", other).into()),
    }
}

fn refusal(error: CannotDecide, id: &str) -> ApiError {
    match error {
        CannotDecide::NoSuch => ApiError::not_found(format!("No such approval: {id}")).about("id"),
        CannotDecide::Own | CannotDecide::Over(_) => {
            let message = format!("Approval '{id}' cannot be decided: {error}.");
            ApiError::new(StatusCode::CONFLICT, message).about("id").coded("approval_over")
        }
    }
}

fn number(query: &Query, name: &'static str, most: u64) -> ApiResult<Option<u64>> {
    let Some(text) = query.get(name) else { return Ok(None) };
    match text.parse() {
        Ok(number) if number <= most => Ok(Some(number)),
        _ => {
            let message = format!("Invalid value: '{text}'. '{name}' is a whole number, {most} at most.");
            Err(GateError::bad_value(name, message).into())
        }
    }
}

#[cfg(test)]
#[path = "approvals_tests.rs"]
mod tests;
