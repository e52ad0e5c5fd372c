//! What the server counts and measures, for Prometheus, and the spans it sends to a collector. Labels hold
//! words of ours and names of models that answered, never code, keys or anything else a client chooses.

mod approval;
mod execution;
mod families;
mod known_models;
mod outside;
mod span;
mod turn;
mod watch;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use opentelemetry::global::BoxedTracer;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use sandgate_core::{BackendReport, BackendStats};

use crate::ledger::Connection;
pub(crate) use approval::ApprovalWatch;
pub use execution::{ExecutionWatch, Whereabouts};
use families::Families;
use known_models::KnownModels;
pub use outside::{Outside, Place};
pub(crate) use turn::TurnWatch;
pub use watch::{RequestEnd, Watch};

/// Cheap to clone.
#[derive(Clone)]
pub struct Metrics(Arc<Inner>);

struct Inner {
    registry: Registry,
    families: Families,
    models: KnownModels,
    /// None: no collector is configured, and no span is ever made.
    tracer: Option<BoxedTracer>,
}

/// What is looked up at the moment somebody asks for the metrics.
#[derive(Clone, Debug, Default)]
pub struct Now {
    pub is_healthy: bool,
    pub sandboxes: usize,
    pub containers: usize,
    pub approvals_held: usize,
    pub store_queue: usize,
    pub backend: BackendStats,
    pub backends: Vec<BackendReport>,
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new(None)
    }
}

impl Metrics {
    #[must_use]
    pub fn new(tracer: Option<BoxedTracer>) -> Self {
        let mut registry = Registry::with_prefix("sandgate");
        let families = Families::register(&mut registry);
        Self(Arc::new(Inner { registry, families, models: KnownModels::default(), tracer }))
    }

    /// Models of the configuration: they have a label of their own from the start.
    pub fn know_models<'a>(&self, names: impl IntoIterator<Item = &'a str>) {
        names.into_iter().for_each(|name| self.0.models.add(name));
    }

    /// Backends of the configuration, for the same reason.
    pub fn know_backends<'a>(&self, names: impl IntoIterator<Item = &'a str>) {
        names.into_iter().for_each(|name| self.0.families.know_backend(name));
    }

    /// Somebody's limit was reached: `memory`, `time`, `requests_per_minute`, …
    pub fn limit_hit(&self, limit: &'static str) {
        self.0.families.limits_hit.get_or_create(&[("limit", limit)]).inc();
    }

    /// What was decided before code ran, and by whom: `rule`, `webhook`, `person`, or by `default`.
    pub fn decided(&self, by: &'static str, is_allowed: bool) {
        let verdict = if is_allowed { "allowed" } else { "denied" };
        self.0.families.decisions.get_or_create(&[("by", by), ("verdict", verdict)]).inc();
    }

    /// A sandbox connected to something, or was refused.
    pub fn connected(&self, connection: &Connection) {
        let families = &self.0.families;
        let labels = [("way", connection.way), ("verdict", connection.verdict)];
        families.connections.get_or_create(&labels).inc_by(connection.times);
        for (direction, bytes) in [("sent", connection.sent), ("received", connection.received)] {
            families.connection_bytes.get_or_create(&[("direction", direction)]).inc_by(bytes);
        }
    }

    /// A sandbox was started, or could not be. `how`: `create` or `wake`.
    pub fn sandbox_started(&self, how: &'static str, is_ok: bool, took: Duration) {
        let outcome = if is_ok { "ok" } else { "failed" };
        let labels = [("how", how), ("outcome", outcome)];
        self.0.families.sandbox_starts.get_or_create(&labels).observe(took.as_secs_f64());
    }

    /// Everything, in the text form that Prometheus reads.
    #[must_use]
    pub fn text(&self, now: &Now) -> String {
        self.0.families.set(now);
        let mut text = String::new();
        // Writing to a String does not fail.
        let _ = encode(&mut text, &self.0.registry);
        text
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").field("traces", &self.0.tracer.is_some()).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "metrics_tests.rs"]
mod tests;
