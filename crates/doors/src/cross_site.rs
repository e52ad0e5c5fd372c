//! Keeps pages of other sites out. A browser sends some requests of any page to any address without
//! asking first: plain forms, which an upload of a file is too, and that is all it takes to fill this
//! machine's disk or to put a file into a container. But it always says from which site such a
//! request comes, and programs that are no browsers say nothing; so whoever names another site than
//! the one that was asked is refused. JSON bodies are safe besides: browsers ask before sending them,
//! and nobody here says yes.

use axum::extract::Request;
use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::openai::ApiError;

pub(crate) async fn only_same_site(request: Request, next: Next) -> Response {
    if is_of_another_site(request.headers(), request.uri()) {
        let message = "Requests from pages of other sites are not answered.";
        return ApiError::new(StatusCode::FORBIDDEN, message).coded("cross_site_request").into_response();
    }
    next.run(request).await
}

pub(crate) fn is_of_another_site(headers: &HeaderMap, uri: &Uri) -> bool {
    let Some(origin) = headers.get(ORIGIN) else { return false };
    let asked = match headers.get(HOST) {
        Some(host) => host.to_str().ok().and_then(|host| host.parse::<Authority>().ok()),
        None => uri.authority().cloned(),
    };
    // `null` is the origin of pages that hide theirs.
    let from = origin.to_str().ok().and_then(|origin| origin.parse::<Uri>().ok());
    let from = from.as_ref().and_then(Uri::authority);
    match (from, asked) {
        (Some(from), Some(asked)) => !from.as_str().eq_ignore_ascii_case(asked.as_str()),
        (None, _) | (_, None) => true,
    }
}

#[cfg(test)]
#[path = "cross_site_tests.rs"]
mod tests;
