//! The id by which both sides, and the upstream, can name a request: the client's own where it gave one, and
//! the one of the request's records.

use axum::extract::Request;
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use sandgate_core::random_hex;
use tracing::Instrument;

pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Where the upstream's own goes.
const UPSTREAM_ID: HeaderName = HeaderName::from_static("x-upstream-request-id");
const LONGEST: usize = 128;

/// The id of the request at hand; handlers find it among the request's extensions.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(pub(crate) String);

impl RequestId {
    /// Empty where a door stands alone, as in its tests.
    pub(crate) fn of(extensions: &Extensions) -> String {
        extensions.get::<Self>().map(|id| id.0.clone()).unwrap_or_default()
    }
}

/// Gives the request its id, and the answer.
pub(crate) async fn mark(mut request: Request, next: Next) -> Response {
    let id = given(request.headers()).unwrap_or_else(|| format!("req_{}", random_hex(16)));
    request.extensions_mut().insert(RequestId(id.clone()));
    let span = tracing::info_span!("request", id);
    let mut response = next.run(request).instrument(span).await;
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
