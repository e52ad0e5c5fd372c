//! The id by which both sides, and the upstream, can name a request: the client's own where it gave one, and
//! the one of the request's records.

use axum::extract::Request;
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use sandgate_core::random_hex;

pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Where the upstream's own goes.
const UPSTREAM_ID: HeaderName = HeaderName::from_static("x-upstream-request-id");
const LONGEST: usize = 128;

/// The id of the request at hand; handlers find it among the request's extensions.
#[derive(Clone, Debug)]
pub struct RequestId(pub(crate) String);

impl RequestId {
    /// Empty where a door stands alone, as in its tests.
    #[must_use]
    pub fn of(extensions: &Extensions) -> String {
        extensions.get::<Self>().map(|id| id.0.clone()).unwrap_or_default()
    }
}

/// The client's own, or a fresh one.
pub(crate) fn of(headers: &HeaderMap) -> String {
    given(headers).unwrap_or_else(|| format!("req_{}", random_hex(16)))
}

/// An answer without an id gets it, such as one that no door gave.
pub(crate) fn give(response: &mut Response, id: &str) {
    if let Ok(id) = HeaderValue::from_str(id) {
        response.headers_mut().entry(REQUEST_ID).or_insert(id);
    }
}

/// The answer has the id of the request, whatever an upstream said; a door that stands alone gives one.
pub(crate) async fn mark(mut request: Request, next: Next) -> Response {
    let known = RequestId::of(request.extensions());
    let id = if known.is_empty() { of(request.headers()) } else { known };
    request.extensions_mut().insert(RequestId(id.clone()));
    let mut response = next.run(request).await;
    if let Ok(id) = HeaderValue::from_str(&id)
        && let Some(other) = response.headers_mut().insert(REQUEST_ID, id.clone())
        && other != id
    {
        response.headers_mut().insert(UPSTREAM_ID, other);
    }
    response
}

/// One that is too long or odd is replaced: it goes into the log.
fn given(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(REQUEST_ID)?.to_str().ok()?;
    let plain = |byte: u8| byte.is_ascii_graphic();
    (!text.is_empty() && text.len() <= LONGEST && text.bytes().all(plain)).then(|| text.to_owned())
}
