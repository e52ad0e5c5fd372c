//! What was asked of this server: a list that keeps itself up to date, and one request as a story.

mod cells;
mod filter;
mod list;
mod one;
mod shown;
mod timeline;

use axum::Router;
use axum::routing::get;

use crate::Console;
use crate::fields::Fields;

pub(crate) const PATH: &str = "/console/requests";

pub(crate) fn router() -> Router<Console> {
    Router::new()
        .route(PATH, get(list::show))
        .route("/console/requests/one", get(one::show))
        .route(shown::PATH, get(shown::frame))
}

/// Behind a question mark: clients choose their ids, and `..` would be another page.
pub(crate) fn link(request: &str) -> String {
    Fields::default().link("/console/requests/one", &[], &[("id", request)])
}

#[cfg(test)]
mod tests;
