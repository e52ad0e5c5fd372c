//! What every answer of this door carries: an id by which both sides can name the request, and how
//! long it took.

use std::time::Instant;

use axum::extract::Request;
use axum::http::header::X_CONTENT_TYPE_OPTIONS;
use axum::http::{HeaderMap, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use sandgate_core::random_hex;
use tracing::Instrument;

const REQUEST_ID: &str = "x-request-id";
/// The version that OpenAI's own server names in every answer.
const VERSION: HeaderValue = HeaderValue::from_static("2020-10-01");
const LONGEST: usize = 128;

/// The id of the request at hand; handlers find it among the request's extensions.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(pub(crate) String);

pub(super) async fn stamp(mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = given(request.headers()).unwrap_or_else(|| format!("req_{}", random_hex(16)));
    request.extensions_mut().insert(RequestId(id.clone()));
    let span = tracing::info_span!("request", id);
    let mut response = next.run(request).instrument(span).await;
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(&id) {
        headers.entry(REQUEST_ID).or_insert(id);
    }
    headers.entry("openai-version").or_insert(VERSION);
    let took = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    headers.entry("openai-processing-ms").or_insert(HeaderValue::from(took));
    // What a browser makes of an answer is not for the answer to suggest: it may hold hostile output.
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// One that is too long or odd is replaced: it goes into the log.
fn given(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(REQUEST_ID)?.to_str().ok()?;
    let plain = |byte: u8| byte.is_ascii_graphic();
    (!text.is_empty() && text.len() <= LONGEST && text.bytes().all(plain)).then(|| text.to_owned())
}
