//! The same request for another path.

use axum::extract::Request;
use axum::http::Uri;
use axum::http::uri::PathAndQuery;

/// What follows the question mark stays. None: the path cannot be read.
pub(crate) fn with_path(mut request: Request, path: &str) -> Option<Request> {
    if request.uri().path() == path {
        return Some(request);
    }
    let text = match request.uri().query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    let mut parts = request.uri().clone().into_parts();
    parts.path_and_query = Some(text.parse::<PathAndQuery>().ok()?);
    *request.uri_mut() = Uri::from_parts(parts).ok()?;
    Some(request)
}
