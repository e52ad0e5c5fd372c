//! Responses that were made before: shown again, streamed again, cancelled, deleted. One that is not in
//! our store may be in the upstream's.

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Json, Response};
use bytes::Bytes;
use sandgate_core::Principal;
use sandgate_gate::{GateError, visible};
use sandgate_store::StoreError;
use serde_json::{Value, json};

use super::error::{ApiError, ApiResult};
use super::pages::{self, Query};
use super::path::InPath;
use super::{Door, sse};
use crate::owner::Who;

pub(super) async fn retrieve(
    State(door): State<Door>,
    Who(who): Who,
    InPath(id): InPath<String>,
    query: Query,
    request: Request,
) -> ApiResult<Response> {
    if let Some(answer) = unless_ours(&door, &who, &id, request).await? {
        return Ok(answer);
    }
    if query.get("stream") == Some("true") {
        let after = match query.get("starting_after") {
            None => None,
            Some(text) => Some(text.parse().map_err(|_| not_a_number("starting_after"))?),
        };
        let obfuscation = query.get("include_obfuscation") != Some("false");
        let events = door.gate.listen(&who.owner, &id, after, obfuscation).await?;
        return Ok(sse::answer(events, Default::default()));
    }
    let record = door.gate.response(&who.owner, &id).await?;
    Ok(Json(shown(record.body, &query.include())).into_response())
}

pub(super) async fn delete(
    State(door): State<Door>,
    Who(who): Who,
    InPath(id): InPath<String>,
    request: Request,
) -> ApiResult<Response> {
    match door.gate.delete(&who.owner, &id).await {
        Ok(()) => Ok(Json(json!({"id": id, "object": "response", "deleted": true})).into_response()),
        Err(StoreError::NotFound) => elsewhere(&door, &who, &id, request).await,
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn cancel(
    State(door): State<Door>,
    Who(who): Who,
    InPath(id): InPath<String>,
    request: Request,
) -> ApiResult<Response> {
    if let Some(answer) = unless_ours(&door, &who, &id, request).await? {
        return Ok(answer);
    }
    let body = door.gate.cancel(&who.owner, &id).await?;
    Ok(Json(shown(body, &[])).into_response())
}

pub(super) async fn input_items(
    State(door): State<Door>,
    Who(who): Who,
    InPath(id): InPath<String>,
    query: Query,
    request: Request,
) -> ApiResult<Response> {
    if let Some(answer) = unless_ours(&door, &who, &id, request).await? {
        return Ok(answer);
    }
    let page = query.page(20, 100)?;
    let include = query.include();
    let listed = door.store.input_items(&who.owner, &id, &page).await.map_err(|error| match error {
        StoreError::NotFound => pages::no_such_page(&page),
        other => other.into(),
    })?;
    let listed = pages::mapped(listed, |item| visible(item.body, &include));
    Ok(Json(pages::list(listed)).into_response())
}

fn shown(mut body: Value, include: &[String]) -> Value {
    if let Some(Value::Array(output)) = body.get_mut("output") {
        for item in output {
            *item = visible(std::mem::take(item), include);
        }
    }
    body
}

/// None when the response is in our store; otherwise what is to be said of it.
async fn unless_ours(
    door: &Door,
    who: &Principal,
    id: &str,
    request: Request,
) -> ApiResult<Option<Response>> {
    if door.gate.has_response(&who.owner, id).await? {
        return Ok(None);
    }
    elsewhere(door, who, id, request).await.map(Some)
}

/// The upstream keeps the responses that were passed on to it.
async fn elsewhere(door: &Door, who: &Principal, id: &str, request: Request) -> ApiResult<Response> {
    if door.passes("/v1/responses")
        && let Some(kept_by) = door.elsewhere(who, id).await?
    {
        let (mut head, _) = request.into_parts();
        head.extensions.insert(kept_by);
        return door.pass(head, Bytes::new()).await;
    }
    Err(ApiError::not_found(format!("Response with id '{id}' not found.")))
}

fn not_a_number(param: &str) -> ApiError {
    GateError::Invalid {
        message: format!("Invalid type for '{param}': expected an integer."),
        param: Some(param.to_owned()),
        code: Some("invalid_type"),
    }
    .into()
}
