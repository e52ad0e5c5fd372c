//! `/v1/conversations`: made, looked at, changed and deleted. What is in them is next door.

use axum::extract::State;
use axum::response::Json;
use sandgate_core::now_seconds;
use sandgate_gate::{GateError, fresh_id, only_known};
use sandgate_store::{ConversationRecord, StoreError};
use serde_json::{Value, json};

use super::Door;
use super::body::JsonBody;
use super::conversation_items::read_items;
use super::error::{ApiError, ApiResult};
use super::metadata;
use super::path::InPath;
use crate::owner::Caller;

pub(super) async fn create(
    State(door): State<Door>,
    Caller(owner): Caller,
    JsonBody(fields): JsonBody,
) -> ApiResult<Json<Value>> {
    only_known(&fields, "", &["items", "metadata"])?;
    let metadata = metadata::read(fields.get("metadata"))?;
    let items = read_items(&door, &owner, fields.get("items")).await?;
    let record = ConversationRecord { id: fresh_id("conv"), owner, created_at: now_seconds(), metadata };
    door.store.create_conversation(&record, &items).await?;
    Ok(Json(object(&record)))
}

pub(super) async fn retrieve(
    State(door): State<Door>,
    Caller(owner): Caller,
    InPath(id): InPath<String>,
) -> ApiResult<Json<Value>> {
    let record = door.store.conversation(&owner, &id).await.map_err(|error| missing(error, &id))?;
    Ok(Json(object(&record)))
}

pub(super) async fn update(
    State(door): State<Door>,
    Caller(owner): Caller,
    InPath(id): InPath<String>,
    JsonBody(fields): JsonBody,
) -> ApiResult<Json<Value>> {
    only_known(&fields, "", &["metadata"])?;
    if !fields.contains_key("metadata") {
        return Err(GateError::missing("metadata").into());
    }
    let metadata = metadata::read(fields.get("metadata"))?;
    let record = door.store.set_metadata(&owner, &id, metadata).await.map_err(|error| missing(error, &id))?;
    Ok(Json(object(&record)))
}

pub(super) async fn delete(
    State(door): State<Door>,
    Caller(owner): Caller,
    InPath(id): InPath<String>,
) -> ApiResult<Json<Value>> {
    door.store.delete_conversation(&owner, &id).await.map_err(|error| missing(error, &id))?;
    Ok(Json(json!({"id": id, "object": "conversation.deleted", "deleted": true})))
}

pub(super) fn object(record: &ConversationRecord) -> Value {
    json!({
        "id": record.id,
        "object": "conversation",
        "created_at": record.created_at,
        "metadata": record.metadata,
    })
}

pub(super) fn missing(error: StoreError, id: &str) -> ApiError {
    match error {
        StoreError::NotFound => ApiError::not_found(format!("Conversation with id '{id}' not found.")),
        other => other.into(),
    }
}

#[cfg(test)]
#[path = "conversations_tests.rs"]
mod tests;
