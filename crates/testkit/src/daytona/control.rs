//! The control API.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{StatusCode, Uri};
use serde::Deserialize;
use serde_json::{Value, json};

use super::check::{Body, Refused, query};
use super::sandbox::Sandbox;
use super::{World, lock};

type Answer = Result<Json<Value>, Refused>;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Create {
    #[serde(default)]
    snapshot: Option<String>,
    #[serde(default)]
    build_info: Option<Build>,
    #[serde(default, rename = "target")]
    _target: Option<String>,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) labels: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) network_block_all: bool,
    #[serde(default)]
    network_allow_list: Option<String>,
    #[serde(default)]
    domain_allow_list: Option<String>,
    #[serde(default)]
    cpu: Option<u32>,
    #[serde(default)]
    memory: Option<u32>,
    #[serde(default)]
    disk: Option<u32>,
    #[serde(default)]
    auto_stop_interval: Option<u32>,
    #[serde(default, rename = "autoDeleteInterval")]
    _auto_delete_interval: Option<i32>,
    #[serde(default, rename = "ttlMinutes")]
    _ttl_minutes: Option<u32>,
    #[serde(default)]
    volumes: Vec<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Build {
    dockerfile_content: String,
}

pub(crate) async fn create(State(world): State<Arc<World>>, Body(body): Body<Create>) -> Answer {
    let bad = |message: &str| Err(Refused::new(StatusCode::BAD_REQUEST, message));
    if body.snapshot.is_some() && body.build_info.is_some() {
        return bad("a snapshot and a build at once");
    }
    if body.build_info.as_ref().is_some_and(|build| !build.dockerfile_content.starts_with("FROM ")) {
        return bad("a Dockerfile begins with FROM");
    }
    if body.build_info.is_none() && (body.cpu, body.memory, body.disk) != (None, None, None) {
        return bad("sizes cannot be given with a snapshot");
    }
    if body.network_block_all && (body.network_allow_list.is_some() || body.domain_allow_list.is_some()) {
        return bad("everything blocked and something allowed at once");
    }
    // Code that runs is no use of a sandbox there, and nothing moves this end: it would come in the middle.
    if body.auto_stop_interval != Some(0) {
        return bad("the sandbox would stop by itself while its code runs");
    }
    if !body.volumes.is_empty() {
        return bad("there are no volumes here");
    }
    let made = Sandbox::make(&world, body).map_err(|error| Refused::failed(&error))?;
    let made = Arc::new(made);
    lock(&world.sandboxes).insert(made.id.clone(), Arc::clone(&made));
    Ok(Json(shown(&world, &made, "creating")))
}

/// It has started when it was looked at once: whoever does not look does not know.
pub(crate) async fn get(State(world): State<Arc<World>>, Path(id): Path<String>) -> Answer {
    let sandbox = world.find(&id)?;
    sandbox.set_started();
    Ok(Json(shown(&world, &sandbox, "started")))
}

pub(crate) async fn start(State(world): State<Arc<World>>, Path(id): Path<String>) -> Answer {
    let sandbox = world.find(&id)?;
    Ok(Json(shown(&world, &sandbox, "started")))
}

pub(crate) async fn remove(State(world): State<Arc<World>>, Path(id): Path<String>) -> Answer {
    let sandbox = world.find(&id)?;
    lock(&world.sandboxes).remove(&id);
    Ok(Json(shown(&world, &sandbox, "destroying")))
}

pub(crate) async fn ttl(
    State(world): State<Arc<World>>,
    Path((id, minutes)): Path<(String, String)>,
) -> Answer {
    let sandbox = world.find(&id)?;
    if !minutes.parse::<u32>().is_ok_and(|minutes| minutes > 0) {
        return Err(Refused::new(StatusCode::BAD_REQUEST, "whole minutes are wanted"));
    }
    Ok(Json(shown(&world, &sandbox, "started")))
}

pub(crate) async fn list(State(world): State<Arc<World>>, uri: Uri) -> Answer {
    let query = query(&uri, &["labels", "limit", "cursor"])?;
    let text = query.get("labels").map_or("{}", String::as_str);
    let labels: BTreeMap<String, String> = serde_json::from_str(text)
        .map_err(|error| Refused::new(StatusCode::BAD_REQUEST, format!("labels: {error}")))?;
    let all: Vec<Arc<Sandbox>> = lock(&world.sandboxes).values().cloned().collect();
    let has_all =
        |sandbox: &&Arc<Sandbox>| labels.iter().all(|(name, value)| sandbox.labels.get(name) == Some(value));
    let items: Vec<Value> =
        all.iter().filter(has_all).map(|sandbox| shown(&world, sandbox, "started")).collect();
    Ok(Json(json!({"items": items, "nextCursor": null})))
}

fn shown(world: &World, sandbox: &Sandbox, state: &str) -> Value {
    json!({
        "id": sandbox.id, "organizationId": "org", "name": sandbox.id, "user": "daytona",
        "env": sandbox.env, "labels": sandbox.labels, "public": false, "networkBlockAll": true, "kvm": false,
        "target": "local", "cpu": 1, "gpu": 0, "memory": 1, "disk": 3, "state": state,
        "toolboxProxyUrl": format!("http://{}/toolbox", world.address),
    })
}
