//! What stands for OpenSandbox's agent inside a sandbox. Whoever comes here has shown that he may, and the sandbox
//! is in the request as `Target`.

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;

use super::Door;
use super::target::Target;

pub(super) fn router() -> Router<Door> {
    let ping = async |target: Target| {
        target.interpreter_listens().await;
        StatusCode::OK
    };
    Router::new().route("/ping", get(ping))
}
