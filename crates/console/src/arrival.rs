//! How a request came about, as browsers say it: by a person, by a page of ours, or by somebody else's page. It
//! matters where there is no session yet.

use axum::http::{HeaderMap, HeaderName, Method, Uri};
use axum::response::{Html, IntoResponse, Response};
use maud::{DOCTYPE, html};

pub(crate) const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// Somebody opened it, or followed a link of ours. Programs that are no browsers say nothing, and are believed.
    Opened,
    /// A page of ours fetched it.
    Fetched,
    /// A link of another site led here. The browser sent no cookie along.
    Followed,
    /// A page of another site fetched it, or shows it within itself.
    Elsewhere,
}

pub(crate) fn arrival(method: &Method, headers: &HeaderMap) -> Arrival {
    let says = |name: HeaderName| headers.get(name).map(|value| value.as_bytes());
    let is_navigation = says(FETCH_MODE).is_none_or(|mode| mode == b"navigate")
        && says(FETCH_DEST).is_none_or(|to| to == b"document");
    match (says(FETCH_SITE), is_navigation) {
        (None | Some(b"none" | b"same-origin"), true) => Arrival::Opened,
        (None | Some(b"none" | b"same-origin"), false) => Arrival::Fetched,
        (Some(_), true) if *method == Method::GET => Arrival::Followed,
        (Some(_), _) => Arrival::Elsewhere,
    }
}

/// Leads to the same page once more, from here: then the browser sends the cookies that it keeps from the links of
/// others.
pub(crate) fn once_more(uri: &Uri) -> Response {
    let address = uri.path_and_query().map_or("/console", |path| path.as_str());
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="refresh" content={ "0; url=" (address) };
                title { "Sandgate" }
            }
            body { p { a href=(address) { "Go on to the console" } } }
        }
    };
    Html(page.into_string()).into_response()
}
