//! The control plane: sandboxes are made, found, extended, paused and ended here.

mod auth;
mod body;
mod connect;
mod create;
mod fork;
mod list;
mod logs;
mod metadata;
mod metrics;
mod network;
mod once;
mod sandboxes;
mod shown;
mod snapshot_name;
mod snapshots;
mod templates;
mod wish;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get, post, put};
use sandgate_core::{Lease, Owner};

use super::error::{E2bError, E2bResult};
use super::host::sandbox_id;
use super::{DOOR, Door, E2bDoor};
use crate::access::Access;
use crate::lent::Turns;
use crate::lent::carry::Tunnels;

/// Metadata and variables; nothing else here is long.
const MAX_BODY: usize = 1 << 20;

/// What the door remembers while it is open.
#[derive(Debug, Default)]
pub(super) struct State {
    once: Turns,
    /// Changes of a sandbox's network go one after the other.
    networks: Turns,
    metrics: metrics::History,
    pub(super) tunnels: Tunnels,
}

pub(super) fn router(door: Door, access: Access) -> Router {
    let guard = auth::Guard { access, domain: door.settings.domain.clone() };
    Router::new()
        .route("/sandboxes", get(list::first).post(create::first))
        .route("/v2/sandboxes", get(list::second).post(create::second))
        .route("/sandboxes/metrics", get(metrics::of_several))
        .route("/sandboxes/{sandbox}", get(sandboxes::retrieve).delete(sandboxes::kill))
        .route("/sandboxes/{sandbox}/connect", post(connect::first))
        .route("/v2/sandboxes/{sandbox}/connect", post(connect::second))
        .route("/sandboxes/{sandbox}/resume", post(connect::resume))
        .route("/sandboxes/{sandbox}/pause", post(sandboxes::pause))
        .route("/sandboxes/{sandbox}/timeout", post(sandboxes::set_timeout))
        .route("/sandboxes/{sandbox}/refreshes", post(sandboxes::refresh))
        .route("/sandboxes/{sandbox}/network", put(network::update))
        .route("/sandboxes/{sandbox}/metrics", get(metrics::of_one))
        .route("/sandboxes/{sandbox}/logs", get(logs::first))
        .route("/v2/sandboxes/{sandbox}/logs", get(logs::second))
        .route("/sandboxes/{sandbox}/snapshots", post(snapshots::create))
        .route("/sandboxes/{sandbox}/fork", post(fork::fork))
        .route("/snapshots", get(snapshots::list))
        .route("/templates", get(templates::list).post(templates::no_builds))
        .route("/v2/templates", get(templates::list).post(templates::no_builds))
        .route("/v3/templates", post(templates::no_builds))
        .route("/default-templates", get(templates::list))
        .route("/templates/aliases/{alias}", get(templates::alias))
        .route("/templates/tags", any(templates::no_builds))
        .route(
            "/templates/{template}",
            get(templates::retrieve)
                .delete(snapshots::delete)
                .post(templates::no_builds)
                .patch(templates::no_builds),
        )
        .route("/health", get(async || "OK"))
        .fallback(elsewhere)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(door)
        .layer(from_fn_with_state(guard, auth::authenticate))
}

/// Paths of E2B's that this server has nothing for, each with its reason.
async fn elsewhere(request: Request) -> E2bError {
    let path = request.uri().path();
    let first = path.trim_start_matches('/').split('/').find(|part| !matches!(*part, "v2" | "v3"));
    match first.unwrap_or_default() {
        "templates" => templates::no_builds().await,
        "volumes" | "volumecontent" => E2bError::not_here("this server has no volumes"),
        "secrets" => E2bError::not_here("this server keeps no secrets for sandboxes"),
        "teams" | "api-keys" | "access-tokens" => {
            E2bError::not_here("keys are made by the operator here: 'sandgate key create'")
        }
        "nodes" | "admin" => E2bError::not_here("this server is one machine, and has no such interface"),
        _ => E2bError::not_found(format!("there is no {} {path} here", request.method())),
    }
}

async fn wrong_method(request: Request) -> E2bError {
    let message = format!("{} does not take {}", request.uri().path(), request.method());
    E2bError::new(StatusCode::METHOD_NOT_ALLOWED, message)
}

impl E2bDoor {
    /// Another owner's sandbox is as good as none.
    fn lease(&self, owner: &Owner, id: &str) -> E2bResult<Arc<Lease>> {
        let found = sandbox_id(id).and_then(|id| self.leases.get(DOOR, owner, id).ok());
        found.ok_or_else(|| E2bError::no_such_sandbox(id))
    }
}

#[cfg(test)]
mod tests;
