//! What stands for OpenSandbox's egress sidecar. Sandboxes have no network here: everything is denied, which is what
//! is told; what would allow something is refused.

use axum::Router;
use axum::extract::{FromRequest, Request, State};
use axum::http::StatusCode;
use axum::response::Json;
use axum::routing::{any, get};
use bytes::Bytes;
use serde_json::{Value, json};

use super::Door;
use super::details::Details;
use super::error::{Answered, INVALID_PARAMETER, Refusal};
use super::lifecycle::{as_policy, is_deny_all, rules};
use super::target::Target;

const NO_NETWORK: &str = "sandboxes have no network here: everything is denied, whatever a rule allows";
/// As many rules as the original takes.
const MOST_RULES: usize = 4096;

pub(super) fn router() -> Router<Door> {
    Router::new()
        .route("/policy", get(policy).post(replace).put(replace).patch(merge).delete(remove))
        .route("/healthz", get(async || StatusCode::OK))
        .route("/credential-vault", any(no_vault))
        .route("/credential-vault/{*rest}", any(no_vault))
        .fallback(async || Refusal::new(StatusCode::NOT_FOUND, "NOT_FOUND", "there is no such path here"))
}

async fn policy(target: Target) -> Json<Value> {
    Json(told(&target.details))
}

/// What is enforced, and that more was asked for, where it was.
fn told(details: &Details) -> Value {
    let asked = details.network.as_ref();
    let denied = asked.and_then(|policy| policy["egress"].as_array());
    let denied: Vec<_> = denied.into_iter().flatten().filter(|rule| rule["action"] == "deny").collect();
    let mut told = json!({
        "status": "ok",
        "mode": "deny_all",
        "enforcementMode": "none",
        "policy": {"defaultAction": "deny", "egress": denied},
    });
    if asked.is_some_and(|policy| !is_deny_all(policy)) {
        told["reason"] = NO_NETWORK.into();
    }
    told
}

async fn replace(State(door): State<Door>, target: Target, request: Request) -> Answered<Json<Value>> {
    let new = match body(request).await? {
        Value::Object(policy) => as_policy(&policy),
        _ => return Err(Refusal::invalid("a policy is an object with 'defaultAction' and 'egress'")),
    };
    rules(&new["egress"]).map_err(Refusal::invalid)?;
    if !is_deny_all(&new) {
        return Err(not_granted());
    }
    keep(&door, &target, |_| new).await
}

async fn merge(State(door): State<Door>, target: Target, request: Request) -> Answered<Json<Value>> {
    let new = rules(&body(request).await?).map_err(Refusal::invalid)?;
    let merged = |policy: &Value| {
        let mut all: Vec<Value> = Vec::new();
        for rule in new.iter().chain(policy["egress"].as_array().into_iter().flatten()) {
            if !all.iter().any(|known| known["target"] == rule["target"]) {
                all.push(rule.clone());
            }
        }
        // What was asked for at first and is not granted stays out of what is granted now.
        json!({"defaultAction": "deny", "egress": all})
    };
    if new.iter().any(|rule| rule["action"] == "allow") {
        return Err(not_granted());
    }
    keep(&door, &target, merged).await
}

async fn remove(State(door): State<Door>, target: Target, request: Request) -> Answered<Json<Value>> {
    let body = body(request).await?;
    let targets = body.as_array().filter(|targets| targets.iter().all(Value::is_string));
    let targets = targets.ok_or_else(|| Refusal::invalid("a list of targets is wanted"))?;
    let left = |policy: &Value| {
        let all = policy["egress"].as_array().into_iter().flatten();
        let left: Vec<_> = all.filter(|rule| !targets.contains(&rule["target"])).collect();
        json!({"defaultAction": policy["defaultAction"], "egress": left})
    };
    keep(&door, &target, left).await
}

async fn no_vault() -> Refusal {
    Refusal::not_here("sandboxes have no network here, so there is no vault for credentials")
}

fn not_granted() -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, INVALID_PARAMETER, NO_NETWORK)
}

async fn keep(
    door: &Door,
    target: &Target,
    change: impl FnOnce(&Value) -> Value + Send,
) -> Answered<Json<Value>> {
    let before = target.details.network.clone();
    let new = change(&before.unwrap_or_else(|| json!({"defaultAction": "deny", "egress": []})));
    if new["egress"].as_array().is_some_and(|rules| rules.len() > MOST_RULES) {
        return Err(Refusal::invalid(format!("a policy has {MOST_RULES} rules at most")));
    }
    let lease = door.leases.change_details(&target.lease.id, move |details| details["network"] = new).await?;
    Ok(Json(told(&Details::of(&lease))))
}

async fn body(request: Request) -> Answered<Value> {
    let bytes = Bytes::from_request(request, &()).await?;
    serde_json::from_slice(&bytes).map_err(|error| Refusal::invalid(format!("the body is not JSON: {error}")))
}

#[cfg(test)]
#[path = "egress_tests.rs"]
mod tests;
