//! The same request for another path.

use axum::extract::Request;
use axum::http::Uri;
use axum::http::uri::PathAndQuery;

/// What follows the question mark stays. None: the path cannot be read.
pub(crate) fn with_path(mut request: Request, path: &str) -> Option<Request> {
    if request.uri().path() != path {
        *request.uri_mut() = uri_with_path(request.uri(), path)?;
    }
    Some(request)
}

/// The same of an address.
pub(crate) fn uri_with_path(uri: &Uri, path: &str) -> Option<Uri> {
    let text = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(text.parse::<PathAndQuery>().ok()?);
    Uri::from_parts(parts).ok()
}
