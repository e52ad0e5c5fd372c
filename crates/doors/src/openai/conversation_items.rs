//! `/v1/conversations/{id}/items`: what is in a conversation.

use axum::extract::State;
use axum::response::Json;
use sandgate_core::Owner;
use sandgate_gate::{GateError, kept_item, only_known, visible};
use sandgate_store::{ItemRecord, Listed, StoreError};
use serde_json::{Map, Value};

use super::body::JsonBody;
use super::conversations::{missing, object};
use super::error::{ApiError, ApiResult};
use super::hosted_tools::refuse_in_items;
use super::pages::{self, Query};
use super::path::InPath;
use super::{Door, OpenAiDoor};
use crate::owner::Caller;

const MOST_ITEMS: usize = 20;
const LONGEST_ID: usize = 128;
const ROLES: [&str; 4] = ["user", "assistant", "system", "developer"];

pub(super) async fn create(
    State(door): State<Door>,
    Caller(owner): Caller,
    InPath(id): InPath<String>,
    query: Query,
    JsonBody(fields): JsonBody,
) -> ApiResult<Json<Value>> {
    only_known(&fields, "", &["items"])?;
    let Some(items @ Value::Array(_)) = fields.get("items") else {
        return Err(match fields.get("items") {
            Some(other) => GateError::wrong_type("items", "an array", other).into(),
            None => GateError::missing("items").into(),
        });
    };
    let items = read_items(&door, &owner, Some(items)).await?;
    door.store.add_items(&owner, &id, &items).await.map_err(|error| missing(error, &id))?;
    let include = query.include();
    let added = Listed { data: items, has_more: false };
    Ok(Json(pages::list(pages::mapped(added, |item| visible(item.body, &include)))))
}

pub(super) async fn list(
    State(door): State<Door>,
    Caller(owner): Caller,
    InPath(id): InPath<String>,
    query: Query,
) -> ApiResult<Json<Value>> {
    let page = query.page(20, 100)?;
    let listed = match door.store.items(&owner, &id, &page).await {
        Err(StoreError::NotFound) => {
            // Either the conversation or the place to go on from.
            door.store.conversation(&owner, &id).await.map_err(|error| missing(error, &id))?;
            return Err(pages::no_such_page(&page));
        }
        listed => listed?,
    };
    let include = query.include();
    Ok(Json(pages::list(pages::mapped(listed, |item| visible(item.body, &include)))))
}

pub(super) async fn retrieve(
    State(door): State<Door>,
    Caller(owner): Caller,
    InPath((conversation, item)): InPath<(String, String)>,
    query: Query,
) -> ApiResult<Json<Value>> {
    let record = door.store.conversation(&owner, &conversation).await;
    record.map_err(|error| missing(error, &conversation))?;
    let found = door.store.conversation_item(&owner, &conversation, &item).await;
    let found = found.map_err(|error| no_such_item(error, &item))?;
    Ok(Json(visible(found.body, &query.include())))
}

/// Answers with the conversation it was taken out of.
pub(super) async fn delete(
    State(door): State<Door>,
    Caller(owner): Caller,
    InPath((conversation, item)): InPath<(String, String)>,
) -> ApiResult<Json<Value>> {
    let record = door.store.conversation(&owner, &conversation).await;
    let record = record.map_err(|error| missing(error, &conversation))?;
    let deleted = door.store.delete_item(&owner, &conversation, &item).await;
    deleted.map_err(|error| no_such_item(error, &item))?;
    Ok(Json(object(&record)))
}

fn no_such_item(error: StoreError, id: &str) -> ApiError {
    match error {
        StoreError::NotFound => ApiError::not_found(format!("Item with id '{id}' not found.")),
        other => other.into(),
    }
}

/// The items of a request, as they will be kept. None counts as empty.
pub(super) async fn read_items(
    door: &OpenAiDoor,
    owner: &Owner,
    value: Option<&Value>,
) -> ApiResult<Vec<ItemRecord>> {
    let items = match value {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(items)) => items,
        Some(other) => return Err(GateError::wrong_type("items", "an array", other).into()),
    };
    if items.len() > MOST_ITEMS {
        let message = format!(
            "Invalid 'items': array too long. Expected an array with maximum length {MOST_ITEMS}, but got an \
             array with length {} instead.",
            items.len()
        );
        return Err(ApiError::bad_request(message).about("items").coded("array_above_max_length"));
    }
    // What is kept here is said to the upstream later.
    refuse_in_items(items, "items")?;
    let mut kept = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let at = format!("items[{index}]");
        let item = checked(item, &at)?;
        kept.push(kept_item(&door.store, owner, item, &at).await?);
    }
    Ok(kept)
}

/// Only what the server must understand is looked at; what it does not know is kept as it is.
fn checked(item: &Value, at: &str) -> ApiResult<Value> {
    let Value::Object(fields) = item else {
        return Err(GateError::wrong_type(at, "an object", item).into());
    };
    match fields.get("id") {
        None | Some(Value::Null) => {}
        Some(Value::String(id)) if !id.is_empty() && id.len() <= LONGEST_ID => {}
        Some(Value::String(_)) => {
            let message = format!("Invalid '{at}.id': expected 1 to {LONGEST_ID} characters.");
            return Err(GateError::bad_value(format!("{at}.id"), message).into());
        }
        Some(other) => return Err(GateError::wrong_type(format!("{at}.id"), "a string", other).into()),
    }
    let mut fields = fields.clone();
    fields.retain(|name, value| !(value.is_null() && (name == "id" || name == "type")));
    match fields.get("type") {
        Some(Value::String(kind)) if kind == "message" => check_message(&fields, at)?,
        Some(Value::String(_)) => {}
        Some(other) => return Err(GateError::wrong_type(format!("{at}.type"), "a string", other).into()),
        None if fields.contains_key("role") => check_message(&fields, at)?,
        None if fields.contains_key("id") => {
            fields.insert("type".to_owned(), Value::from("item_reference"));
        }
        None => return Err(GateError::missing(format!("{at}.type")).into()),
    }
    Ok(Value::Object(fields))
}

fn check_message(fields: &Map<String, Value>, at: &str) -> ApiResult<()> {
    match fields.get("role") {
        Some(Value::String(role)) if ROLES.contains(&role.as_str()) => {}
        Some(Value::String(role)) => {
            let message = format!(
                "Invalid value: '{role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'."
            );
            return Err(GateError::bad_value(format!("{at}.role"), message).into());
        }
        Some(other) => return Err(GateError::wrong_type(format!("{at}.role"), "a string", other).into()),
        None => return Err(GateError::missing(format!("{at}.role")).into()),
    }
    match fields.get("content") {
        Some(Value::String(_)) => Ok(()),
        Some(Value::Array(parts)) => match parts.iter().position(|part| !part["type"].is_string()) {
            Some(index) => Err(GateError::missing(format!("{at}.content[{index}].type")).into()),
            None => Ok(()),
        },
        Some(other) => {
            let expected = "a string or an array";
            Err(GateError::wrong_type(format!("{at}.content"), expected, other).into())
        }
        None => Err(GateError::missing(format!("{at}.content")).into()),
    }
}

#[cfg(test)]
#[path = "conversation_items_tests.rs"]
mod tests;
