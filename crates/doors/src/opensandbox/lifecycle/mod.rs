//! The lifecycle API: sandboxes are made, found, extended, paused and ended here.

mod absent;
mod auth;
mod body;
mod create;
mod diagnostics;
mod endpoints;
mod image;
mod list;
mod metadata;
mod network;
mod quantity;
mod sandboxes;
mod shown;
mod snapshots;
mod wish;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::Json;
use axum::routing::{any, get, patch, post};
use sandgate_core::{Lease, Owner};
use serde_json::{Value, json};

use super::error::{Answered, INVALID_PARAMETER, Refusal};
use super::{DOOR, Door, OpenSandboxDoor, VERSION};
use crate::access::Access;

pub(super) use auth::{API_KEY, refused};
pub(super) use image::is_code_interpreter;
pub(super) use network::{live_policy, network_policy, rules, shown_policy};

/// Metadata and variables; nothing else here is long.
const MAX_BODY: usize = 1 << 20;

pub(super) fn router(door: Door, access: Access) -> Router {
    Router::new()
        .route("/sandboxes", get(list::list).post(create::create))
        .route("/sandboxes/{sandbox}", get(sandboxes::retrieve).delete(sandboxes::delete))
        .route("/sandboxes/{sandbox}/pause", post(sandboxes::pause))
        .route("/sandboxes/{sandbox}/resume", post(sandboxes::resume))
        .route("/sandboxes/{sandbox}/renew-expiration", post(sandboxes::renew))
        .route("/sandboxes/{sandbox}/metadata", patch(sandboxes::change_metadata))
        .route("/sandboxes/{sandbox}/endpoints/{port}", get(endpoints::endpoint))
        .route("/sandboxes/{sandbox}/diagnostics/logs", get(diagnostics::logs))
        .route("/sandboxes/{sandbox}/diagnostics/events", get(diagnostics::events))
        .route("/sandboxes/{sandbox}/networkpolicy", any(absent::network_policy))
        .route("/sandboxes/{sandbox}/snapshots", post(snapshots::create))
        .route("/snapshots", get(snapshots::list))
        .route("/snapshots/{snapshot}", get(snapshots::retrieve).delete(snapshots::delete))
        .route("/templates", any(absent::templates))
        .route("/templates/{*template}", any(absent::templates))
        .route("/pools", any(absent::pools))
        .route("/pools/{*pool}", any(absent::pools))
        .route("/metrics/events", post(async || StatusCode::NO_CONTENT))
        .route("/version", get(version))
        .fallback(not_found)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(door)
        .layer(from_fn_with_state(access, auth::authenticate))
}

async fn version() -> Json<Value> {
    Json(json!({"version": VERSION}))
}

async fn not_found(request: Request) -> Refusal {
    let message = format!("there is no {} {} here", request.method(), request.uri().path());
    Refusal::new(StatusCode::NOT_FOUND, "NOT_FOUND", message)
}

async fn wrong_method(request: Request) -> Refusal {
    let message = format!("{} does not take {}", request.uri().path(), request.method());
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, INVALID_PARAMETER, message)
}

impl OpenSandboxDoor {
    /// Another owner's sandbox is as good as none.
    fn lease(&self, owner: &Owner, id: &str) -> Answered<Arc<Lease>> {
        self.leases.get(DOOR, owner, id).map_err(|_| Refusal::no_such_sandbox(id))
    }
}

#[cfg(test)]
mod tests;
