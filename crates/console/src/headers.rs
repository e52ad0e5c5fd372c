//! What every answer of the console says to the browser: nothing but our own scripts and styles, no frames
//! around it, no guessing of kinds, nothing kept.

use axum::extract::Request;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::middleware::Next;
use axum::response::Response;

const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; \
     frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);
/// For a document that is not to be trusted, in a frame of our own: no scripts, no requests, no origin.
const HOSTILE: HeaderValue = HeaderValue::from_static(
    "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:; form-action 'none'; \
     base-uri 'none'; frame-ancestors 'self'",
);
const NO_POWERS: HeaderValue =
    HeaderValue::from_static("camera=(), geolocation=(), microphone=(), payment=(), usb=()");

/// In an answer's extensions: it is a document that code inside a sandbox made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hostile;

pub(crate) async fn strict(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let is_hostile = response.extensions().get::<Hostile>().is_some();
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, if is_hostile { HOSTILE } else { POLICY });
    if is_hostile {
        // Names of links are not looked up ahead.
        headers.insert(HeaderName::from_static("x-dns-prefetch-control"), HeaderValue::from_static("off"));
    } else {
        headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    }
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let same = HeaderValue::from_static("same-origin");
    // Not `no-referrer`: with that, browsers hide the origin of our own forms too.
    headers.insert(REFERRER_POLICY, same.clone());
    if !is_hostile {
        headers.insert(HeaderName::from_static("cross-origin-opener-policy"), same.clone());
    }
    headers.insert(HeaderName::from_static("cross-origin-resource-policy"), same);
    headers.insert(HeaderName::from_static("permissions-policy"), NO_POWERS);
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
