//! `GET /health/backends`: a real execution on each backend, for the operator. A round that has begun comes to its
//! end, whoever still waits for it.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use sandgate_core::{BackendCheck, CheckBackends, Principal};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::access::only_master;
use crate::openai::{ApiError, ApiResult, wrong_method};

#[derive(Clone, Debug)]
pub struct BackendsDoor {
    backends: Arc<dyn CheckBackends>,
    /// One round at a time: each costs a sandbox on every backend. Who comes meanwhile hears of the same one.
    under_way: Arc<Mutex<Weak<Round>>>,
}

/// What came of it, once it has.
type Round = watch::Receiver<Option<Vec<BackendCheck>>>;

impl BackendsDoor {
    #[must_use]
    pub fn new(backends: Arc<dyn CheckBackends>) -> Self {
        Self { backends, under_way: Arc::default() }
    }

    pub fn router(self) -> Router {
        Router::new()
            .route("/health/backends", get(check))
            .method_not_allowed_fallback(wrong_method)
            .with_state(self)
    }

    fn round(&self) -> Arc<Round> {
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(round) = under_way.upgrade() {
            return round;
        }
        let (tell, told) = watch::channel(None);
        let round = Arc::new(told);
        *under_way = Arc::downgrade(&round);
        let (backends, held) = (Arc::clone(&self.backends), Arc::clone(&round));
        tokio::spawn(async move {
            tell.send_replace(Some(backends.check_all().await));
            // The next to ask begins another.
            drop(held);
        });
        round
    }
}

async fn check(
    State(door): State<BackendsDoor>,
    Extension(principal): Extension<Principal>,
) -> ApiResult<Response> {
    only_master(&principal)?;
    let mut round = Round::clone(&door.round());
    let checked = match round.wait_for(Option::is_some).await {
        Ok(checked) => checked.clone().unwrap_or_default(),
        Err(_) => return Err(ApiError::internal(&"a check of the backends was cut short")),
    };
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
