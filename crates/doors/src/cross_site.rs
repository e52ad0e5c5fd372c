//! Keeps pages of other sites out. A browser sends some requests of any page to any address without
//! asking first: plain forms, which an upload of a file is too, and that is all it takes to fill this
//! machine's disk or to put a file into a container. But it always says from which site such a
//! request comes, and programs that are no browsers say nothing; so whoever names another site than
//! the one that was asked is refused. JSON bodies are safe besides: browsers ask before sending them,
//! and nobody here says yes.

use axum::extract::Request;
use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::openai::ApiError;

/// Of the names in a refusal.
const LONGEST_SAID: usize = 100;

pub(crate) async fn only_same_site(request: Request, next: Next) -> Response {
    if is_of_another_site(request.headers(), request.uri()) {
        let said = |name: HeaderName| {
            let text = request.headers().get(name).map(|value| String::from_utf8_lossy(value.as_bytes()));
            text.unwrap_or_default().chars().take(LONGEST_SAID).collect::<String>()
        };
        let message = format!(
            "Requests from pages of other sites are not answered: a page of '{}' asked for '{}'. A proxy before \
             this server has to pass the header Host on as it was.",
            said(ORIGIN),
            said(HOST),
        );
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
