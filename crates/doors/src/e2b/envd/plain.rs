//! Whether the sandbox runs, its variables, and what it uses.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use axum::routing::get;
use serde_json::{Value, json};

use super::Shared;
use super::guest::Guest;
use super::refusal::Refusal;

/// How long it is looked at to say what it uses of the processor.
const LOOK: Duration = Duration::from_millis(100);

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/health", get(async || StatusCode::NO_CONTENT))
        .route("/envs", get(async |request: Request| answer(&request, envs).await))
        .route("/metrics", get(async |request: Request| answer(&request, metrics).await))
}

fn answer<W: Future<Output = Result<Value, Refusal>> + Send>(
    request: &Request,
    tell: fn(Guest) -> W,
) -> impl Future<Output = Response> + Send + use<W> {
    let (id, guest) = (Guest::id_of(request), Guest::of(request));
    async move {
        let told = match guest.await {
            Ok(guest) => tell(guest).await,
            Err(refusal) => Err(refusal),
        };
        told.map_or_else(|refusal| refusal.over_http(&id), |body| Json(body).into_response())
    }
}

async fn envs(guest: Guest) -> Result<Value, Refusal> {
    let variables: BTreeMap<_, _> = guest.container.spec().env.iter().cloned().collect();
    Ok(json!(variables))
}

async fn metrics(guest: Guest) -> Result<Value, Refusal> {
    let limits = &guest.container.spec().limits;
    let begun = Instant::now();
    let before = guest.sandbox.usage().await?;
    tokio::time::sleep(LOOK).await;
    let usage = guest.sandbox.usage().await?;
    let passed = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX).max(1);
    let used = usage.cpu_micros.saturating_sub(before.cpu_micros);
    // Hundredths of a percent of one processor, cut to two digits.
    #[expect(clippy::cast_precision_loss, reason = "a percentage needs no more")]
    let used_pct = (used.saturating_mul(10_000) / passed) as f64 / 100.0;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(json!({
        "ts": now.as_secs(),
        "cpu_count": limits.cpu_millis.div_ceil(1000),
        "cpu_used_pct": used_pct,
        "mem_total": limits.memory_bytes,
        "mem_total_mib": limits.memory_bytes >> 20,
        "mem_used": usage.memory_bytes,
        "mem_used_mib": usage.memory_bytes >> 20,
        // What the page cache holds counts as used here, so there is nothing more of it.
        "mem_cache": 0,
        "disk_used": usage.disk_bytes,
        "disk_total": limits.disk_bytes,
    }))
}
