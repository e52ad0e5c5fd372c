//! What the gate itself refuses in the place of an upstream, in the words OpenAI's server uses.

use ::http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::json;

use super::UpstreamError;

pub(super) fn no_such_model(model: &str) -> UpstreamError {
    let message = format!("The model '{model}' does not exist or you do not have access to it.");
    refused(StatusCode::NOT_FOUND, &message, None, Some("model_not_found"))
}

pub(super) fn no_model() -> UpstreamError {
    let message = "Several models are served here: the request must name one as 'model'.";
    refused(StatusCode::BAD_REQUEST, message, Some("model"), Some("missing_required_parameter"))
}

pub(super) fn no_keeper() -> UpstreamError {
    let message =
        "It is not known which of the upstreams keeps this, or that one is not configured any more.";
    refused(StatusCode::NOT_FOUND, message, None, None)
}

pub(super) fn refused(
    status: StatusCode,
    message: &str,
    param: Option<&str>,
    code: Option<&str>,
) -> UpstreamError {
    let error = json!({"message": message, "type": "invalid_request_error", "param": param, "code": code});
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let body = json!({"error": error}).to_string().into();
    UpstreamError::Status { status, headers: Box::new(headers), body }
}
