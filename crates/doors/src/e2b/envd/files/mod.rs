//! `/files`: what clients read from a sandbox and put into it, streamed, never held.

mod compose;
mod conditions;
mod content;
mod download;
mod form;
mod metadata;
mod upload;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::Uri;
use axum::response::Response;
use axum::routing::{get, post};

use super::super::route::query;
use super::Shared;
use super::guest::Guest;
use super::refusal::Refusal;

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/files", get(download).post(upload))
        .route("/files/compose", post(compose))
        // What is too much is for the sandbox's own limits to say.
        .layer(DefaultBodyLimit::disable())
}

/// What the question mark is followed by. Of one given twice the last counts, as where signatures are checked:
/// a link must not be good for another file than the one it was made for.
#[derive(Debug, Default)]
struct Asked {
    path: Option<String>,
    username: Option<String>,
}

impl Asked {
    fn of(uri: &Uri) -> Self {
        let mut asked = Self::default();
        for (name, value) in query(uri) {
            match name.as_str() {
                "path" => asked.path = Some(value),
                "username" => asked.username = Some(value),
                _ => {}
            }
        }
        asked
    }
}

async fn download(request: Request) -> Response {
    let id = Guest::id_of(&request);
    answer(download::answer(request).await, &id)
}

async fn upload(request: Request) -> Response {
    let id = Guest::id_of(&request);
    answer(upload::answer(request).await, &id)
}

async fn compose(request: Request) -> Response {
    let id = Guest::id_of(&request);
    answer(compose::answer(request).await, &id)
}

fn answer(answered: Result<Response, Refusal>, id: &str) -> Response {
    answered.unwrap_or_else(|refusal| refusal.over_http(id))
}

#[cfg(test)]
mod tests;
