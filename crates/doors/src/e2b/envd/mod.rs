//! What stands for E2B's agent inside a sandbox: its files over plain HTTP, and two services that are called,
//! one for files and one for processes. Whoever comes here has shown that he may.

mod connect;
mod files;
mod filesystem;
mod guest;
mod messages;
mod paths;
mod plain;
mod process;
mod refusal;
mod user;

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::response::Response;

use filesystem::Watchers;
use guest::Guest;
use refusal::{Kind, Refusal};

/// What outlives a request.
#[derive(Clone, Debug, Default)]
struct Shared {
    watchers: Arc<Watchers>,
}

pub(super) fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .merge(plain::routes())
        .merge(files::routes())
        .merge(filesystem::routes())
        .merge(process::routes())
        .fallback(not_here)
        .method_not_allowed_fallback(not_here)
        .with_state(Shared::default())
}

/// Also what only the host of a sandbox may ask of E2B's own agent.
async fn not_here(request: Request) -> Response {
    let message = format!("there is no {} {}", request.method(), request.uri().path());
    Refusal::new(Kind::NotFound, message).over_http(&Guest::id_of(&request))
}

#[cfg(test)]
mod double;
