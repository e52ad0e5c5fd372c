//! `GET /metrics`: what the server counts, for Prometheus. It tells of everybody's use, so with keys it takes
//! the master key, unless the operator opened it.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use sandgate_core::{Containers, Rank};
use sandgate_gate::{Approvals, Metrics, Now};
use sandgate_store::Store;

use crate::access::{METRICS, only_master};
use crate::openai::{ApiResult, wrong_method};
use crate::owner::Who;

const KIND: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Clone, Debug)]
pub struct MetricsDoor {
    pub metrics: Metrics,
    pub containers: Arc<Containers>,
    pub store: Store,
    pub approvals: Approvals,
}

impl MetricsDoor {
    pub fn router(self) -> Router {
        Router::new().route(METRICS, get(show)).method_not_allowed_fallback(wrong_method).with_state(self)
    }
}

async fn show(State(door): State<MetricsDoor>, Who(who): Who) -> ApiResult<Response> {
    match who.rank {
        // Nobody comes here only where everybody may.
        Rank::Open | Rank::Nobody => {}
        Rank::Master | Rank::Key(_) => only_master(&who)?,
    }
    let now = Now {
        is_healthy: door.containers.is_healthy(),
        sandboxes: door.containers.count_live(),
        containers: door.containers.count(),
        approvals_held: door.approvals.count_held(),
        store_queue: door.store.queue_length(),
        backend: door.containers.backend_stats(),
        backends: door.containers.backend_reports(),
    };
    Ok(([(CONTENT_TYPE, KIND)], door.metrics.text(&now)).into_response())
}
