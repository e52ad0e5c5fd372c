//! What a sandbox uses, once or every second.

use std::time::{Duration, Instant};

use axum::Router;
use axum::response::{Json, Response};
use axum::routing::get;
use sandgate_core::{Usage, now_ms};
use serde::Serialize;

use super::super::Door;
use super::events::{Tale, tell};
use super::guest::Guest;
use super::refusal::Refusal;
use crate::lent::add_line;

/// How long it is looked at to say what it uses of the processor.
const LOOK: Duration = Duration::from_millis(100);
const EVERY: Duration = Duration::from_secs(1);

pub(super) fn routes() -> Router<Door> {
    Router::new().route("/metrics", get(once)).route("/metrics/watch", get(watch))
}

#[derive(Debug, Serialize)]
struct Metrics {
    cpu_count: f64,
    /// Of what it may use.
    cpu_used_pct: f64,
    mem_total_mib: f64,
    mem_used_mib: f64,
    timestamp: u64,
}

/// What was seen last, and when.
struct Look {
    guest: Guest,
    usage: Usage,
    at: Instant,
}

impl Look {
    async fn first(guest: Guest) -> Result<Self, Refusal> {
        let usage = guest.sandbox.usage().await?;
        Ok(Self { guest, usage, at: Instant::now() })
    }

    async fn next(&mut self) -> Result<Metrics, Refusal> {
        let (usage, at) = (self.guest.sandbox.usage().await?, Instant::now());
        let used = usage.cpu_micros.saturating_sub(self.usage.cpu_micros);
        let passed = at.duration_since(self.at).as_micros().max(1);
        (self.usage, self.at) = (usage, at);
        let limits = &self.guest.target.container.spec().limits;
        let cores = f64::from(limits.cpu_millis) / 1000.0;
        #[expect(clippy::cast_precision_loss, reason = "a percentage needs no more")]
        let used_pct = used as f64 * 100.0 / passed as f64 / cores.max(0.001);
        Ok(Metrics {
            cpu_count: cores,
            cpu_used_pct: (used_pct.min(100.0) * 100.0).round() / 100.0,
            mem_total_mib: mib(limits.memory_bytes),
            mem_used_mib: mib(usage.memory_bytes.min(limits.memory_bytes)),
            timestamp: now_ms(),
        })
    }
}

fn mib(bytes: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a size in MiB needs no more")]
    let mib = bytes as f64 / f64::from(1 << 20);
    (mib * 100.0).round() / 100.0
}

async fn once(guest: Guest) -> Result<Json<Metrics>, Refusal> {
    let mut look = Look::first(guest).await?;
    tokio::time::sleep(LOOK).await;
    Ok(Json(look.next().await?))
}

async fn watch(guest: Guest) -> Result<Response, Refusal> {
    Ok(tell(Look::first(guest).await?))
}

impl Tale for Look {
    async fn more(&mut self, lines: &mut Vec<u8>) -> bool {
        tokio::time::sleep_until((self.at + EVERY).into()).await;
        match self.next().await {
            Ok(metrics) => {
                add_line(lines, &metrics);
                lines.push(b'\n');
                false
            }
            Err(refusal) => {
                super::events::refused(lines, &refusal);
                true
            }
        }
    }
}
