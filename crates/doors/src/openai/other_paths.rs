//! The upstream's other paths: those that compute something from what the request holds are passed on.
//!
//! The list is one of what is allowed, because the upstream is asked with the operator's key where one is
//! configured: files, fine-tuning, batches, assistants, vector stores, stored completions and everything
//! of the organisation are objects of the operator's account, and would be shown to, or deleted by,
//! whoever may ask for an embedding.

use axum::extract::{Request, State};
use axum::http::header::UPGRADE;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{Json, Response};
use sandgate_core::Principal;
use sandgate_gate::upstream::Credentials;
use serde_json::Value;

use super::Door;
use super::body::{is_kind, whole};
use super::error::{ApiError, ApiResult};
use super::path::InPath;
use super::uploads::FORM;
use crate::access::check_model_alone;
use crate::owner::Who;

const PASSED: [&str; 10] = [
    "/v1/audio/speech",
    "/v1/audio/transcriptions",
    "/v1/audio/translations",
    "/v1/completions",
    "/v1/embeddings",
    "/v1/images/edits",
    "/v1/images/generations",
    "/v1/images/variations",
    "/v1/moderations",
    "/v1/rerank",
];

/// Every path that nobody here has.
pub(super) async fn pass(State(door): State<Door>, Who(who): Who, request: Request) -> ApiResult<Response> {
    refuse_websocket(request.headers())?;
    let path = request.uri().path();
    if request.method() != Method::POST || !PASSED.contains(&path) || !door.passes(path) {
        return Err(ApiError::unknown_url(request.method(), path));
    }
    let (head, body) = whole(request).await?;
    if is_kind(&head.headers, FORM) {
        // It stands somewhere in the form, which is not read here.
        refuse_form(&who)?;
    } else {
        check_model_alone(&who.limits, &body)?;
    }
    door.pass(head, body).await
}

fn refuse_form(who: &Principal) -> ApiResult<()> {
    if who.limits.models.is_none() {
        return Ok(());
    }
    let message = "This key may use certain models only, and the model of a form is not looked at here.";
    Err(ApiError::new(StatusCode::FORBIDDEN, message).about("model").coded("model_not_found"))
}

/// A path of ours, asked for in a way that it has not.
pub(crate) async fn wrong_method(request: Request) -> ApiResult<Response> {
    refuse_websocket(request.headers())?;
    Err(ApiError::wrong_method(request.method(), request.uri().path()))
}

/// One model of the list.
pub(super) async fn model(
    State(door): State<Door>,
    Who(who): Who,
    InPath(model): InPath<String>,
    headers: HeaderMap,
) -> ApiResult<Json<Value>> {
    let list = door.gate.upstream().models(&Credentials::from_headers(&headers)).await?;
    let found = list["data"].as_array().into_iter().flatten().find(|known| known["id"] == *model);
    let found = found.filter(|_| who.limits.allows_model(&model));
    found.cloned().map(Json).ok_or_else(|| {
        let message = format!("The model '{model}' does not exist or you do not have access to it.");
        ApiError::not_found(message).about("model").coded("model_not_found")
    })
}

/// Some clients try one first. They are told before they wait for an answer that never comes.
fn refuse_websocket(headers: &HeaderMap) -> ApiResult<()> {
    let asked = headers.get(UPGRADE).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"));
    if asked {
        let message = "WebSocket connections are not supported here. Use HTTP, with 'stream' for events.";
        return Err(ApiError::new(StatusCode::BAD_REQUEST, message).coded("websocket_not_supported"));
    }
    Ok(())
}

#[cfg(test)]
#[path = "other_paths_tests.rs"]
mod tests;
