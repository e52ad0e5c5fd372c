//! What stands for OpenSandbox's egress sidecar: the rules of a sandbox's network, read and changed while it runs.
//! They are kept below the operator's ceiling and the key's; what would pass them is refused.

use std::collections::HashSet;

use axum::Router;
use axum::extract::{FromRequest, Request, State};
use axum::http::StatusCode;
use axum::response::Json;
use axum::routing::{any, get};
use bytes::Bytes;
use sandgate_core::Container;
use sandgate_core::network::{NetworkPolicy, REGISTRIES};
use serde_json::{Map, Value, json};

use super::details::Details;
use super::error::{Answered, Refusal};
use super::lifecycle::{live_policy, network_policy, rules, shown_policy};
use super::target::Target;
use super::{DOOR, Door};
use crate::lent::{Maker, read_target};

pub(super) fn router() -> Router<Door> {
    Router::new()
        .route("/policy", get(policy).post(replace).put(replace).patch(merge).delete(remove))
        .route("/healthz", get(async || StatusCode::OK))
        .route("/credential-vault", any(no_vault))
        .route("/credential-vault/{*rest}", any(no_vault))
        .fallback(async || Refusal::new(StatusCode::NOT_FOUND, "NOT_FOUND", "there is no such path here"))
}

async fn policy(target: Target) -> Json<Value> {
    Json(told(current(&target.details, &target.container)))
}

/// As it was asked for, or what the server gives to those who ask for nothing. Packages that are had without a rule for
/// them, as sandboxes have them whose rules were changed before there was one, get it here.
fn current(details: &Details, container: &Container) -> Value {
    let enforced = container.network();
    let Some(mut asked) = details.network.clone() else { return shown_policy(&enforced) };
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
    let new = new.map_err(Refusal::invalid)?;
    change(door, target, Beside::Goes, move |_| new).await
}

async fn merge(State(door): State<Door>, target: Target, request: Request) -> Answered<Json<Value>> {
    let new = rules(&body(request).await?).map_err(Refusal::invalid)?;
    if new.is_empty() {
        return Err(Refusal::invalid("a list of at least one rule is wanted"));
    }
    let merge = move |mut policy: Value| {
        let old = policy["egress"].as_array().cloned().unwrap_or_default();
        let mut seen = HashSet::new();
        let all = new.into_iter().chain(old).filter(|rule| seen.insert(compared(&rule["target"])));
        policy["egress"] = all.collect();
        policy
    };
    change(door, target, Beside::Stays, merge).await
}

async fn remove(State(door): State<Door>, target: Target, request: Request) -> Answered<Json<Value>> {
    let body = body(request).await?;
    let targets = body.as_array().filter(|targets| targets.iter().all(Value::is_string));
    let targets = targets.filter(|targets| !targets.is_empty());
    let targets = targets.ok_or_else(|| Refusal::invalid("a list of at least one target is wanted"))?;
    let targets: HashSet<String> = targets.iter().map(compared).collect();
    let remove = move |mut policy: Value| {
        if let Some(all) = policy["egress"].as_array_mut() {
            all.retain(|rule| !targets.contains(&compared(&rule["target"])));
        }
        policy
    };
    change(door, target, Beside::Stays, remove).await
}

/// A target in the one form by which two are compared: `A.example` is `a.example`.
fn compared(target: &Value) -> String {
    let text = target.as_str().unwrap_or_default().trim();
    read_target(text).map_or_else(|_| text.to_owned(), |target| target.to_string())
}

async fn no_vault() -> Refusal {
    Refusal::not_here("this server has no vault for credentials")
}

/// What becomes of that for which rules have no word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    Stays,
    Goes,
}

/// Puts what `make` makes of the policy in its place. What is told is what is enforced: first the sandbox, then the
/// record of it. One change of a sandbox after the other, each seeing what the one before left.
async fn change(
    door: Door,
    target: Target,
    beside: Beside,
    make: impl FnOnce(Value) -> Value + Send + 'static,
) -> Answered<Json<Value>> {
    let work = Door::clone(&door);
    door.to_the_end(async move {
        let _turn = work.state.rules.turn(&target.lease.owner, &target.lease.id).await;
        let lease = work.leases.find(DOOR, &target.lease.id)?;
        let details = Details::of(&lease);
        let new = make(current(&details, &target.container));
        let policy = network_policy(&new)?;
        let policy = match beside {
            Beside::Goes => policy,
            Beside::Stays => {
                let before = target.container.network();
                NetworkPolicy { secrets: before.secrets, ..policy }
            }
        };
        // By the key as it is now, after whatever this change has waited for.
        let maker = Maker::of(&work.store, &*details).await.map_err(|error| Refusal::internal(&error))?;
        let limits = maker.limits(&*details);
        work.containers.set_lent_network(&target.container, Some(policy), &limits).await?;
        let kept = new.clone();
        let record = move |details: &mut Value| details["network"] = kept;
        work.leases.change_details(&lease.id, record).await?;
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
