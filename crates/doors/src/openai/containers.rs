//! `/v1/containers`: made, listed, looked at and deleted.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Json;
use sandgate_core::network::{Action, NetworkPolicy, Target};
use sandgate_core::{Container, ContainerInfo, Principal, now_seconds};
use sandgate_gate::{GateError, MEMORY_SIZES};
use sandgate_store::{Page, StoreError};
use serde_json::{Value, json};

use super::body::JsonBody;
use super::container_wish::ContainerWish;
use super::error::{ApiError, ApiResult, container_id};
use super::pages::{self, Query};
use super::path::InPath;
use super::{Door, OpenAiDoor};
use crate::owner::{Caller, Who};
use crate::unheard::Unheard;

pub(super) async fn create(
    State(door): State<Door>,
    Who(who): Who,
    JsonBody(fields): JsonBody,
) -> ApiResult<Json<Value>> {
    let wish = ContainerWish::read(&fields, door.limits.max_memory, &who.limits)?;
    if let Some(asked) = &wish.network {
        let granted = door.containers.network_within(Some(asked.policy.clone()), &who.limits);
        granted.map_err(|refused| GateError::bad_value("network_policy", format!("{refused}.")))?;
    }
    let working = Arc::clone(&door);
    let (container, unheard) = door.to_the_end(async move { make(&working, who, wish).await }).await?;
    let shown = shown(&door, &container).await?;
    unheard.heard();
    Ok(Json(shown))
}

/// With all its files or not at all.
async fn make(
    door: &OpenAiDoor,
    who: Principal,
    mut wish: ContainerWish,
) -> ApiResult<(Arc<Container>, Unheard)> {
    let (owner, file_ids) = (who.owner.clone(), std::mem::take(&mut wish.file_ids));
    for (index, id) in file_ids.iter().enumerate() {
        door.store.file(&owner, id).await.map_err(|error| match error {
            StoreError::NotFound => ApiError::bad_request(format!("No such File object: {id}"))
                .about(format!("file_ids[{index}]"))
                .coded("file_not_found"),
            other => other.into(),
        })?;
    }
    let container = door.containers.create(wish.container(who, &door.spec)).await?;
    let unheard = Unheard::new(Arc::clone(&container), Arc::clone(&door.containers), door.tasks.clone());
    for id in &file_ids {
        door.files.place(&container, &owner, id).await?;
    }
    Ok((container, unheard))
}

pub(super) async fn list(
    State(door): State<Door>,
    Caller(owner): Caller,
    query: Query,
) -> ApiResult<Json<Value>> {
    let mut page = query.page(20, 100)?;
    let mut all = door.containers.list(&owner).await;
    skip_to_deleted(&mut all, &mut page);
    if let Some(name) = query.get("name") {
        // The place to go on from stays, whatever its name.
        all.retain(|info| {
            info.name.as_deref() == Some(name) || page.after.as_deref() == Some(info.id.as_str())
        });
    }
    let listed = pages::cut(all, &page, |info| info.id.as_str())?;
    Ok(Json(pages::list(pages::mapped(listed, |info| object(&door, &info)))))
}

/// Clients delete what they list while they go through the pages, so the last one of a page may be
/// gone when they ask for the next. Ids sort by age, so its own tells where to go on.
fn skip_to_deleted(all: &mut Vec<ContainerInfo>, page: &mut Page) {
    let Some(after) = &page.after else { return };
    if all.iter().any(|info| info.id.as_str() == after) {
        return;
    }
    if !after.starts_with("cntr_") {
        return;
    }
    let place = after.as_str();
    let follows = |info: &ContainerInfo| {
        let at = info.id.as_str();
        if page.descending { at < place } else { at > place }
    };
    all.retain(follows);
    page.after = None;
}

pub(super) async fn retrieve(
    State(door): State<Door>,
    Caller(owner): Caller,
    InPath(id): InPath<String>,
) -> ApiResult<Json<Value>> {
    let container = door.containers.get(&owner, &container_id(&id)?)?;
    // Looking at it is using it; one that is lost stays lost.
    if !door.strict || !container.is_expired() {
        container.keep_alive();
    }
    Ok(Json(shown(&door, &container).await?))
}

pub(super) async fn delete(
    State(door): State<Door>,
    Caller(owner): Caller,
    InPath(id): InPath<String>,
) -> ApiResult<Json<Value>> {
    let container = container_id(&id)?;
    let containers = Arc::clone(&door.containers);
    door.to_the_end(async move { Ok(containers.delete(&owner, &container).await?) }).await?;
    Ok(Json(json!({"id": id, "object": "container.deleted", "deleted": true})))
}

async fn shown(door: &OpenAiDoor, container: &Container) -> ApiResult<Value> {
    let info = container.info().await.ok_or_else(|| ApiError::no_such_container(container.id().as_str()))?;
    Ok(object(door, &info))
}

fn object(door: &OpenAiDoor, info: &ContainerInfo) -> Value {
    let idle = now_seconds().saturating_sub(info.last_active_at);
    let status = if door.strict && idle > info.idle_seconds { "expired" } else { "running" };
    let mut object = json!({
        "id": info.id,
        "object": "container",
        "created_at": info.created_at,
        "status": status,
        "expires_after": {"anchor": "last_active_at", "minutes": info.idle_seconds.div_ceil(60)},
        "last_active_at": info.last_active_at,
        "network_policy": info.network_policy.clone().unwrap_or_else(|| network_policy(&info.network)),
        "name": info.name.as_deref().unwrap_or_default(),
    });
    // The server's own size may be one that has no name there.
    let usual = MEMORY_SIZES.iter().find(|(_, bytes)| *bytes == door.spec.limits.memory_bytes);
    if let Some(limit) = info.memory_limit.as_deref().or(usual.map(|(name, _)| *name)) {
        object["memory_limit"] = json!(limit);
    }
    object
}

/// A policy that was not asked for in these words, as near as they come: ports and denials have none.
fn network_policy(policy: &NetworkPolicy) -> Value {
    if policy.is_disabled() {
        return json!({"type": "disabled"});
    }
    let host = |target: &Target| match (target.names(), target.addresses()) {
        (Some(name), _) => name.to_string(),
        (None, range) => range.map(|range| range.to_string()).unwrap_or_default(),
    };
    let allowed = policy.rules.iter().filter(|rule| rule.action == Action::Allow);
    let mut domains: Vec<String> = allowed.map(|rule| host(&rule.target)).collect();
    domains.extend(policy.registries.then(|| "registries".to_owned()));
    domains.extend((policy.default == Action::Allow).then(|| "*".to_owned()));
    json!({"type": "allowlist", "allowed_domains": domains})
}

#[cfg(test)]
#[path = "containers_tests.rs"]
mod tests;
