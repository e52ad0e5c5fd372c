//! What every answer of this door carries besides its id: a version, and how long it took.

use std::time::Instant;

use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::X_CONTENT_TYPE_OPTIONS;
use axum::middleware::Next;
use axum::response::Response;

/// The version that OpenAI's own server names in every answer.
const VERSION: HeaderValue = HeaderValue::from_static("2020-10-01");

pub(super) async fn stamp(request: Request, next: Next) -> Response {
    let started = Instant::now();
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.entry("openai-version").or_insert(VERSION);
    let took = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    headers.entry("openai-processing-ms").or_insert(HeaderValue::from(took));
    // What a browser makes of an answer is not for the answer to suggest: it may hold hostile output.
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
