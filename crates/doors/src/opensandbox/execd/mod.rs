//! What stands for OpenSandbox's agent inside a sandbox: code in contexts, commands, shells that keep their state,
//! terminals, files, and what the sandbox uses. Whoever comes here has shown that he may, and the sandbox is in the
//! request as `Target`.

mod body;
mod code;
mod command;
mod events;
mod files;
mod guest;
mod log;
mod metrics;
mod place;
mod proxy;
mod pty;
mod refusal;
mod session;
mod variables;

use axum::extract::{DefaultBodyLimit, Request};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{any, get};
use axum::{Extension, Router};

use super::Door;
use body::nothing;
use place::Places;
use refusal::{Code, Refusal};

pub(super) fn router() -> Router<Door> {
    routes().layer(Extension(Places::default()))
}

fn routes() -> Router<Door> {
    Router::new()
        .route("/ping", get(async || nothing()))
        .merge(code::routes())
        .merge(command::routes())
        .merge(session::routes())
        .merge(files::routes())
        .merge(metrics::routes())
        .merge(pty::routes())
        .route("/proxy/{port}", any(proxy::pass))
        .route("/proxy/{port}/", any(proxy::pass))
        .route("/proxy/{port}/{*path}", any(proxy::pass))
        .route("/v1/isolated/{*path}", any(no_isolation))
        .fallback(not_here)
        .method_not_allowed_fallback(not_here)
        // Each reads what it reads with a bound of its own.
        .layer(DefaultBodyLimit::disable())
}

/// Sandboxes within sandboxes: the original needs a kernel's help for them, too, and says so where there is none.
async fn no_isolation() -> Refusal {
    let message =
        "isolated sessions are not available: make a sandbox of their own for what is to be kept apart";
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, Code::NotSupported, message)
}

async fn not_here(request: Request) -> Response {
    let message = format!("there is no {} {}", request.method(), request.uri().path());
    axum::response::IntoResponse::into_response(Refusal::new(
        StatusCode::NOT_FOUND,
        Code::NotSupported,
        message,
    ))
}

#[cfg(test)]
mod double;
