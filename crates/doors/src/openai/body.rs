//! Bodies that are JSON objects, and the words for those that are not.

use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use bytes::Bytes;
use serde_json::{Map, Value};

use super::error::{ApiError, ApiResult};
use crate::known_paths::ModelInPath;
use crate::patience::TooSlow;

/// The fields of a JSON object.
#[derive(Debug)]
pub(crate) struct JsonBody(pub(crate) Map<String, Value>);

impl<S: Send + Sync> FromRequest<S> for JsonBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, _state: &S) -> ApiResult<Self> {
        let (_, body) = whole_json(request).await?;
        parse(&body).map(Self)
    }
}

pub(super) fn parse(body: &[u8]) -> ApiResult<Map<String, Value>> {
    match serde_json::from_slice(body) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(ApiError::bad_request("The body of your request must be a JSON object.")),
        Err(error) => {
            let message = format!("We could not parse the JSON body of your request: {error}.");
            Err(ApiError::bad_request(message).coded("invalid_json"))
        }
    }
}

/// The head of a request and its whole body, for those who pass both on.
pub(super) async fn whole(request: Request) -> ApiResult<(Parts, Bytes)> {
    let (head, body) = request.into_parts();
    let copy = head.clone();
    let body = Bytes::from_request(Request::from_parts(head, body), &()).await.map_err(unreadable)?;
    let body = match copy.extensions.get::<ModelInPath>() {
        Some(ModelInPath(model)) => with_model(body, model),
        None => body,
    };
    Ok((copy, body))
}

/// The body with this model, where it names none.
fn with_model(body: Bytes, model: &str) -> Bytes {
    let is_named =
        parse(&body).map_or(true, |fields| fields.keys().any(|name| name.eq_ignore_ascii_case("model")));
    let Some(at) = body.iter().position(|byte| *byte == b'{').filter(|_| !is_named) else { return body };
    let (before, after) = body.split_at(at + 1);
    let comma = if after.trim_ascii_start().starts_with(b"}") { "" } else { "," };
    let field = format!("\"model\":{}{comma}", Value::from(model));
    [before, field.as_bytes(), after].concat().into()
}

/// The same of a request that must be declared JSON; nothing of another is read.
pub(super) async fn whole_json(request: Request) -> ApiResult<(Parts, Bytes)> {
    if !is_kind(request.headers(), "application/json") {
        return Err(not_declared("application/json"));
    }
    whole(request).await
}

/// Whether the body is declared to be of this type, whatever parameters follow it.
pub(crate) fn is_kind(headers: &HeaderMap, kind: &str) -> bool {
    let Some(declared) = headers.get(CONTENT_TYPE) else { return false };
    let declared = declared.as_bytes().split(|byte| *byte == b';').next().unwrap_or_default();
    declared.trim_ascii().eq_ignore_ascii_case(kind.as_bytes())
}

/// A body that came too slowly.
pub(super) fn too_slow() -> ApiError {
    let message = "The body of your request came too slowly; send it at once.";
    ApiError::new(StatusCode::REQUEST_TIMEOUT, message).coded("body_too_slow")
}

/// Also what keeps pages in a browser out: without asking first they can send no JSON.
pub(super) fn not_declared(kind: &str) -> ApiError {
    let message = format!("Send the body with the header 'Content-Type: {kind}'.");
    ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message).coded("unsupported_content_type")
}

fn unreadable(rejection: BytesRejection) -> ApiError {
    if TooSlow::is_behind(&rejection) {
        return too_slow();
    }
    if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return ApiError::too_large("The body of your request is larger than this server takes.");
    }
    ApiError::bad_request(format!("The body of your request could not be read: {}.", rejection.body_text()))
}

#[cfg(test)]
#[path = "body_tests.rs"]
mod tests;
