//! `GET /health/backends`: a real execution on each backend, for the operator.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use sandgate_core::{BackendCheck, CheckBackends, Principal};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::access::only_master;
use crate::openai::ApiResult;

#[derive(Clone, Debug)]
pub struct BackendsDoor {
    backends: Arc<dyn CheckBackends>,
    /// One round at a time: each costs a sandbox on every backend.
    checking: Arc<Mutex<()>>,
}

impl BackendsDoor {
    #[must_use]
    pub fn new(backends: Arc<dyn CheckBackends>) -> Self {
        Self { backends, checking: Arc::default() }
    }

    pub fn router(self) -> Router {
        Router::new().route("/health/backends", get(check)).with_state(self)
    }
}

async fn check(
    State(door): State<BackendsDoor>,
    Extension(principal): Extension<Principal>,
) -> ApiResult<Response> {
    only_master(&principal)?;
    let _alone = door.checking.lock().await;
    let checked = door.backends.check_all().await;
    let is_well = checked.iter().all(|backend| backend.problem.is_none());
    let status = if is_well { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let backends: Vec<Value> = checked.iter().map(shown).collect();
    Ok((status, Json(json!({"ok": is_well, "backends": backends}))).into_response())
}

fn shown(backend: &BackendCheck) -> Value {
    let milliseconds = (backend.took.as_secs_f64() * 10_000.0).round() / 10.0;
    json!({
        "name": backend.name,
        "type": backend.kind,
        "default": backend.is_default,
        "ok": backend.problem.is_none(),
        "milliseconds": milliseconds,
        "problem": backend.problem,
    })
}
