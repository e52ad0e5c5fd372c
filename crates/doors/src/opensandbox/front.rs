//! Stands before the other doors and takes what is OpenSandbox's, by its path: with `/v1` before it or without.

use axum::Router;
use axum::extract::Request;
use axum::middleware::from_fn;
use axum::response::Response;
use tower_service::Service;

use super::error::Refusal;
use super::proxy::Proxy;
use super::{Door, OpenSandboxDoor, lifecycle};
use crate::access::Access;
use crate::lent::with_path;
use crate::request_id::mark;

const VERSIONED: &str = "/v1";
/// What the first part of a path may be.
const OURS: [&str; 5] = ["sandboxes", "snapshots", "templates", "pools", "version"];
/// Under `/v1` alone.
const EVENTS: &str = "/metrics/events";

/// The request came with `/v1`, and what it is told to come back by has it too.
#[derive(Clone, Copy, Debug)]
pub(super) struct Versioned;

#[derive(Clone, Debug)]
pub(crate) struct Front {
    /// Takes a key.
    lifecycle: Router,
    /// Takes a sandbox's own tokens.
    proxy: Router,
}

/// Who answers a request.
#[derive(Debug, PartialEq, Eq)]
enum Way {
    Lifecycle,
    Proxy,
    Others,
}

impl Front {
    pub(crate) fn new(door: OpenSandboxDoor, access: Access) -> Self {
        let door = Door::new(door);
        let proxy = Proxy::new(Door::clone(&door), access.clone());
        let proxy = Router::new()
            .fallback(async move |request: Request| proxy.answer(request).await)
            .layer(from_fn(mark));
        Self { lifecycle: lifecycle::router(door, access), proxy }
    }

    /// Puts something around the lifecycle API. Nothing is put around what goes on inside sandboxes: it is
    /// guarded by secrets that no page can know, and may talk as slowly as it likes.
    pub(crate) fn around_control(self, around: impl FnOnce(Router) -> Router) -> Self {
        Self { lifecycle: around(self.lifecycle).layer(from_fn(mark)), ..self }
    }

    /// `others`: who answers what is not OpenSandbox's.
    pub(crate) async fn answer(mut self, mut others: Router, request: Request) -> Response {
        let (path, is_versioned) = plain(request.uri().path());
        let chosen = match way(path, is_versioned) {
            Way::Others => {
                let Ok(response) = others.call(request).await;
                return response;
            }
            Way::Lifecycle => &mut self.lifecycle,
            Way::Proxy => &mut self.proxy,
        };
        let path = path.to_owned();
        let Some(mut request) = with_path(request, &path) else {
            return axum::response::IntoResponse::into_response(Refusal::invalid(
                "the path of the request cannot be read",
            ));
        };
        if is_versioned {
            request.extensions_mut().insert(Versioned);
        }
        let Ok(response) = chosen.call(request).await;
        response
    }
}

/// Without its version, and whether it had one.
fn plain(path: &str) -> (&str, bool) {
    match path.strip_prefix(VERSIONED) {
        Some(rest) if rest.starts_with('/') => (rest, true),
        _ => (path, false),
    }
}

/// Whether a path is one of this door's.
pub(crate) fn is_ours(path: &str) -> bool {
    let (path, is_versioned) = plain(path);
    way(path, is_versioned) != Way::Others
}

fn way(path: &str, is_versioned: bool) -> Way {
    let mut parts = path.trim_start_matches('/').split('/');
    let first = parts.next().unwrap_or_default();
    if is_versioned && path == EVENTS {
        return Way::Lifecycle;
    }
    if !OURS.contains(&first) {
        return Way::Others;
    }
    match (first, parts.nth(1)) {
        ("sandboxes", Some("proxy")) => Way::Proxy,
        _ => Way::Lifecycle,
    }
}

#[cfg(test)]
#[path = "front_tests.rs"]
mod tests;
