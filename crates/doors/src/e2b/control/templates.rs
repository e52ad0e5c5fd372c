//! Templates: names for the one runtime there is. None can be built here; snapshots are used like them.

use axum::extract::State;
use axum::response::Json;
use serde_json::{Value, json};

use super::super::error::{E2bError, E2bResult};
use super::super::{Door, E2bDoor, E2bSettings, ENVD_VERSION};
use super::shown::cpu_count;
use crate::lent::{Ids, iso};
use crate::owner::Caller;

/// Those that the SDKs ask for by themselves, now or in older releases.
const BUILT_IN: [&str; 3] = ["base", "code-interpreter-v1", "code-interpreter-beta"];

/// Without the tag of a build: there is only one.
fn plain(name: &str) -> &str {
    name.split_once(':').map_or(name, |(name, _)| name)
}

pub(super) fn is_there(settings: &E2bSettings, name: &str) -> bool {
    BUILT_IN.contains(&plain(name))
        || settings.templates.contains(name)
        || settings.templates.contains(plain(name))
}

/// Those of the server itself.
pub(super) fn check(settings: &E2bSettings, name: &str) -> E2bResult<()> {
    if is_there(settings, name) {
        return Ok(());
    }
    Err(E2bError::not_found(format!("template '{name}' not found")))
}

fn all(settings: &E2bSettings) -> impl Iterator<Item = &str> {
    BUILT_IN.into_iter().chain(settings.templates.iter().map(String::as_str))
}

fn shown(door: &E2bDoor, name: &str) -> Value {
    let limits = &door.spec.limits;
    json!({
        "templateID": name,
        "buildID": name,
        "cpuCount": cpu_count(limits),
        "memoryMB": limits.memory_bytes >> 20,
        "diskSizeMB": limits.disk_bytes >> 20,
        "public": true,
        "aliases": [name],
        "names": [name],
        "createdAt": iso(0),
        "updatedAt": iso(0),
        "createdBy": null,
        "lastSpawnedAt": null,
        "spawnCount": 0,
        "buildCount": 1,
        "envdVersion": ENVD_VERSION,
        "buildStatus": "ready",
    })
}

pub(super) async fn list(State(door): State<Door>) -> Json<Vec<Value>> {
    Json(all(&door.settings).map(|name| shown(&door, name)).collect())
}

pub(super) async fn retrieve(State(door): State<Door>, Ids(name): Ids<String>) -> E2bResult<Json<Value>> {
    check(&door.settings, &name)?;
    Ok(Json(shown(&door, &name)))
}

pub(super) async fn alias(
    State(door): State<Door>,
    Caller(owner): Caller,
    Ids(alias): Ids<String>,
) -> E2bResult<Json<Value>> {
    if !is_there(&door.settings, &alias) {
        let snapshot = door.snapshot(&owner, &alias)?;
        return Ok(Json(json!({"templateID": snapshot.id, "public": false})));
    }
    Ok(Json(json!({"templateID": plain(&alias), "public": true})))
}

pub(super) async fn no_builds() -> E2bError {
    E2bError::not_here(
        "templates cannot be built here: the operator prepares the runtime, and gives it further names in \
         'e2b.templates' of the configuration",
    )
}
