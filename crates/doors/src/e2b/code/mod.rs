//! The code interpreter of a sandbox.

use axum::Router;

use super::Door;

pub(super) fn router() -> Router<Door> {
    Router::new()
}
