//! The code interpreter of a sandbox, as E2B's own has it on its port: code runs in contexts, and what it says comes
//! back as one line of JSON each. Whoever comes here has shown that he may.

mod contexts;
mod execute;
mod items;
mod refusal;
mod request;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::{delete, get, post};

use super::Door;
use refusal::Refusal;

pub(super) fn router() -> Router<Door> {
    Router::new()
        .route("/execute", post(execute::execute))
        .route("/contexts", post(contexts::create).get(contexts::list))
        .route("/contexts/{id}", delete(contexts::remove))
        .route("/contexts/{id}/restart", post(contexts::restart))
        .route("/health", get(health))
        .fallback(async || Refusal::NoSuchPath)
        .method_not_allowed_fallback(async || Refusal::WrongMethod)
}

async fn health() -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], r#""OK""#)
}

#[cfg(test)]
mod tests;
