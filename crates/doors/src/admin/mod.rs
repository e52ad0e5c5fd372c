//! The door of the operator: keys are made, listed, limited and revoked here, with the master key only.

mod approvals;
mod backends;
mod key_wish;
mod ledger;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Json;
use axum::routing::{get, post};
use sandgate_core::KeyLimits;
use sandgate_store::{KeyRecord, Store, StoreError};
use serde_json::{Map, Value, json};

pub use approvals::ApprovalsDoor;
pub use backends::BackendsDoor;
pub use key_wish::{check_name, check_owner};
pub use ledger::{LedgerDoor, MOST_CHILDREN, MOST_REQUESTS, STATUSES, ledger_object, ledger_tree, when};

use crate::access::only_master;
use crate::openai::{ApiError, ApiResult, InPath, JsonBody, Query, no_such_page, pages, wrong_method};
use crate::owner::Who;

#[derive(Clone, Debug)]
pub struct AdminDoor {
    pub store: Store,
    /// Names of the backends that a key can be bound to.
    pub backends: Vec<String>,
}

type Door = Arc<AdminDoor>;

impl AdminDoor {
    pub fn router(self) -> Router {
        Router::new()
            .route("/v1/admin/keys", post(create).get(list))
            .route("/v1/admin/keys/{key}", get(retrieve).patch(change).delete(revoke))
            .method_not_allowed_fallback(wrong_method)
            .with_state(Arc::new(self))
    }

    fn check_backend(&self, name: Option<&str>) -> ApiResult<()> {
        let Some(name) = name.filter(|name| !self.backends.iter().any(|known| known == name)) else {
            return Ok(());
        };
        let there = self.backends.join(", ");
        let message = format!("Invalid 'limits.backend': there is no backend '{name}'; there is: {there}.");
        Err(ApiError::bad_request(message).about("limits.backend").coded("unknown_backend"))
    }
}

async fn create(
    State(door): State<Door>,
    Who(who): Who,
    JsonBody(fields): JsonBody,
) -> ApiResult<Json<Value>> {
    only_master(&who)?;
    let wish = key_wish::read(fields)?;
    door.check_backend(wish.limits.backend.as_deref())?;
    let (record, secret) = door.store.create_key(wish).await?;
    tracing::info!(key = record.id, owner = %record.owner, "a key was made");
    let mut made = key_object(&record);
    // This once.
    made["key"] = json!(secret.expose());
    Ok(Json(made))
}

async fn list(State(door): State<Door>, Who(who): Who, query: Query) -> ApiResult<Json<Value>> {
    only_master(&who)?;
    let page = query.page(20, 100)?;
    let listed = door.store.keys(&page).await.map_err(|error| match error {
        StoreError::NotFound => no_such_page(&page),
        other => other.into(),
    })?;
    Ok(Json(pages::list(pages::mapped(listed, |record| key_object(&record)))))
}

async fn retrieve(
    State(door): State<Door>,
    Who(who): Who,
    InPath(id): InPath<String>,
) -> ApiResult<Json<Value>> {
    only_master(&who)?;
    let record = door.store.key(&id).await.map_err(|error| no_such(error, &id))?;
    Ok(Json(key_object(&record)))
}

async fn change(
    State(door): State<Door>,
    Who(who): Who,
    InPath(id): InPath<String>,
    JsonBody(fields): JsonBody,
) -> ApiResult<Json<Value>> {
    only_master(&who)?;
    let wanted = key_wish::read_change(fields)?;
    // Only one that is given: other limits of a key can change when its backend is gone.
    door.check_backend(wanted.get("backend").and_then(Value::as_str))?;
    let changed = door.store.change_key_limits(&id, move |limits| merged(&limits, wanted)).await;
    let record = changed.map_err(|error| no_such(error, &id))??;
    tracing::info!(key = record.id, "the limits of a key were changed");
    Ok(Json(key_object(&record)))
}

/// Fields that are given replace what was there; null takes the limit away.
fn merged(limits: &KeyLimits, wanted: Map<String, Value>) -> ApiResult<KeyLimits> {
    let mut fields = match serde_json::to_value(limits) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) => Map::new(),
        Err(error) => return Err(ApiError::internal(&error)),
    };
    fields.extend(wanted);
    fields.retain(|_, value| !value.is_null());
    key_wish::read_limits(Value::Object(fields))
}

async fn revoke(
    State(door): State<Door>,
    Who(who): Who,
    InPath(id): InPath<String>,
) -> ApiResult<Json<Value>> {
    only_master(&who)?;
    let record = door.store.revoke_key(&id).await.map_err(|error| no_such(error, &id))?;
    tracing::info!(key = record.id, "a key was revoked");
    Ok(Json(
        json!({"id": record.id, "object": "key.deleted", "deleted": true, "revoked_at": record.revoked_at}),
    ))
}

fn no_such(error: StoreError, id: &str) -> ApiError {
    match error {
        StoreError::NotFound => ApiError::not_found(format!("No such key: {id}")).about("id"),
        other => other.into(),
    }
}

/// A key as it is shown, also by the command line.
#[must_use]
pub fn key_object(record: &KeyRecord) -> Value {
    json!({
        "id": record.id,
        "object": "key",
        "name": record.name,
        "owner": record.owner.as_str(),
        "shown": record.shown,
        "created_at": record.created_at,
        "expires_at": record.expires_at,
        "revoked_at": record.revoked_at,
        "last_used_at": record.last_used_at,
        "limits": record.limits,
    })
}

#[cfg(test)]
mod tests;
