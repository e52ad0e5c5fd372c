//! What stands for OpenSandbox's egress sidecar: the rules of a sandbox's network, read and changed while it runs.
//! They are kept below the operator's ceiling and the key's; what would pass them is refused.

use axum::Router;
use axum::extract::{FromRequest, Request, State};
use axum::http::StatusCode;
use axum::response::Json;
use axum::routing::{any, get};
use bytes::Bytes;
use sandgate_core::network::{NetworkPolicy, REGISTRIES};
use serde_json::{Map, Value, json};

use super::Door;
use super::error::{Answered, Refusal};
use super::lifecycle::{live_policy, network_policy, rules, shown_policy};
use super::target::Target;

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
    Json(told(current(&target)))
}

/// As it was asked for, or what the server gives to those who ask for nothing. Packages that are had without a rule for
/// them, as sandboxes have them whose rules were changed before there was one, get it here.
fn current(target: &Target) -> Value {
    let enforced = target.container.network();
    let Some(mut asked) = target.details.network.clone() else { return shown_policy(&enforced) };
    if let Some(rules) = asked["egress"].as_array_mut()
        && enforced.registries
        && !rules.iter().any(|rule| rule["target"] == REGISTRIES)
    {
        rules.push(json!({"action": "allow", "target": REGISTRIES}));
    }
    asked
}

fn told(policy: Value) -> Value {
    let has_rules = policy["egress"].as_array().is_some_and(|rules| !rules.is_empty());
    let mode = match policy["defaultAction"] == "deny" {
        true => "deny_all",
        false if has_rules => "enforcing",
        false => "allow_all",
    };
    // Names and addresses both, which is more than names alone.
    json!({"status": "ok", "mode": mode, "enforcementMode": "dns+nft", "policy": policy})
}

/// Nothing at all, `null` and an empty object reset it, as in the original.
async fn replace(State(door): State<Door>, target: Target, request: Request) -> Answered<Json<Value>> {
    let bytes = Bytes::from_request(request, &()).await?;
    let given = if bytes.trim_ascii().is_empty() { Value::Null } else { parse(&bytes)? };
    let new = match given {
        Value::Null => live_policy(&Map::new()),
        Value::Object(policy) => live_policy(&policy),
        _ => return Err(Refusal::invalid("a policy is an object with 'defaultAction' and 'egress'")),
    };
    keep(door, target, new.map_err(Refusal::invalid)?, NetworkPolicy::disabled()).await
}

async fn merge(State(door): State<Door>, target: Target, request: Request) -> Answered<Json<Value>> {
    let new = rules(&body(request).await?).map_err(Refusal::invalid)?;
    let mut policy = current(&target);
    let mut all: Vec<Value> = Vec::new();
    for rule in new.iter().chain(policy["egress"].as_array().into_iter().flatten()) {
        if !all.iter().any(|known| known["target"] == rule["target"]) {
            all.push(rule.clone());
        }
    }
    policy["egress"] = Value::Array(all);
    let before = target.container.network();
    keep(door, target, policy, before).await
}

async fn remove(State(door): State<Door>, target: Target, request: Request) -> Answered<Json<Value>> {
    let body = body(request).await?;
    let targets = body.as_array().filter(|targets| targets.iter().all(Value::is_string));
    let targets = targets.ok_or_else(|| Refusal::invalid("a list of targets is wanted"))?;
    let mut policy = current(&target);
    if let Some(all) = policy["egress"].as_array_mut() {
        all.retain(|rule| !targets.contains(&rule["target"]));
    }
    let before = target.container.network();
    keep(door, target, policy, before).await
}

async fn no_vault() -> Refusal {
    Refusal::not_here("this server has no vault for credentials")
}

/// What is told is what is enforced: first the sandbox, then the record of it. What rules cannot say, a change of rules
/// leaves as it was `before`.
async fn keep(door: Door, target: Target, new: Value, before: NetworkPolicy) -> Answered<Json<Value>> {
    if new["egress"].as_array().is_some_and(|rules| rules.len() > MOST_RULES) {
        return Err(Refusal::invalid(format!("a policy has {MOST_RULES} rules at most")));
    }
    let policy = network_policy(&new).map_err(Refusal::invalid)?;
    let policy = NetworkPolicy { secrets: before.secrets, ..policy };
    let work = Door::clone(&door);
    door.to_the_end(async move {
        let limits = &target.details.limits;
        work.containers.set_network(&target.container, Some(policy), None, limits).await?;
        let kept = new.clone();
        let change = move |details: &mut Value| details["network"] = kept;
        work.leases.change_details(&target.lease.id, change).await?;
        Ok(Json(told(new)))
    })
    .await
}

async fn body(request: Request) -> Answered<Value> {
    parse(&Bytes::from_request(request, &()).await?)
}

fn parse(bytes: &[u8]) -> Answered<Value> {
    serde_json::from_slice(bytes).map_err(|error| Refusal::invalid(format!("the body is not JSON: {error}")))
}

#[cfg(test)]
#[path = "egress_tests.rs"]
mod tests;
