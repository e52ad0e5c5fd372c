//! Every metric by name. The dashboard in `docs/grafana` uses these names; a test compares the two.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use super::Now;

/// Label and value, both words of ours.
type Words<const N: usize> = [(&'static str, &'static str); N];
/// The first is the name of a model, which is bounded elsewhere, or of a backend, which the operator gave.
type Named<const N: usize> = [(&'static str, Cow<'static, str>); N];
type Histograms<L> = Family<L, Histogram, fn() -> Histogram>;

#[derive(Debug)]
pub(super) struct Families {
    pub(super) requests: Family<Words<3>, Counter>,
    pub(super) durations: Histograms<Words<2>>,
    pub(super) overheads: Histograms<Words<2>>,
    pub(super) under_way: Gauge,
    pub(super) turns: Family<Named<2>, Counter>,
    pub(super) turn_durations: Histograms<Named<1>>,
    pub(super) tokens: Family<Named<2>, Counter>,
    pub(super) executions: Family<Words<2>, Counter>,
    pub(super) execution_durations: Histograms<Words<1>>,
    pub(super) backend_executions: Family<Named<2>, Counter>,
    backend_failures: Family<Named<1>, Counter>,
    backend_available: Family<Named<1>, Gauge>,
    pub(super) limits_hit: Family<Words<1>, Counter>,
    pub(super) decisions: Family<Words<2>, Counter>,
    pub(super) sandbox_starts: Histograms<Words<2>>,
    pub(super) connections: Family<Words<2>, Counter>,
    pub(super) connection_bytes: Family<Words<1>, Counter>,
    held: Gauge,
    healthy: Gauge,
    sandboxes: Gauge,
    containers: Gauge,
    store_queue: Gauge,
    pool_ready: Family<Words<1>, Gauge>,
    pool_claims: Family<Words<1>, Counter>,
}

/// From a tenth of a millisecond to ten seconds: what the gate itself takes, and what sandboxes take.
fn short() -> Histogram {
    Histogram::new([
        0.0001, 0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0,
        10.0,
    ])
}

/// From five milliseconds to half an hour: models, code and whole requests.
fn long() -> Histogram {
    Histogram::new([
        0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0,
        1800.0,
    ])
}

fn histograms<L: Clone + std::hash::Hash + Eq>(make: fn() -> Histogram) -> Histograms<L> {
    Family::new_with_constructor(make)
}

impl Families {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let build = Family::<Words<1>, Gauge>::default();
        build.get_or_create(&[("version", env!("CARGO_PKG_VERSION"))]).set(1);
        registry.register("build_info", "The version of this server", build);
        let families = Self {
            requests: Family::default(),
            durations: histograms(long),
            overheads: histograms(short),
            under_way: Gauge::default(),
            turns: Family::default(),
            turn_durations: histograms(long),
            tokens: Family::default(),
            executions: Family::default(),
            execution_durations: histograms(long),
            backend_executions: Family::default(),
            backend_failures: Family::default(),
            backend_available: Family::default(),
            limits_hit: Family::default(),
            decisions: Family::default(),
            sandbox_starts: histograms(short),
            connections: Family::default(),
            connection_bytes: Family::default(),
            held: Gauge::default(),
            healthy: Gauge::default(),
            sandboxes: Gauge::default(),
            containers: Gauge::default(),
            store_queue: Gauge::default(),
            pool_ready: Family::default(),
            pool_claims: Family::default(),
        };
        let Self { requests, durations, overheads, under_way, turns, turn_durations, tokens, .. } = &families;
        registry.register("requests", "Requests answered", requests.clone());
        registry.register_with_unit(
            "request_duration",
            "From the head of a request to the last byte of its answer",
            Unit::Seconds,
            durations.clone(),
        );
        registry.register_with_unit(
            "request_overhead",
            "The part of a request spent in this server: without models, sandboxes, approvals and slow clients",
            Unit::Seconds,
            overheads.clone(),
        );
        registry.register("requests_under_way", "Requests being answered now", under_way.clone());
        registry.register("model_turns", "Turns taken by models", turns.clone());
        let help = "How long a turn of a model took, to its last event";
        registry.register_with_unit("model_turn_duration", help, Unit::Seconds, turn_durations.clone());
        registry.register("tokens", "Tokens that models counted", tokens.clone());
        families.register_rest(registry);
        families.begin();
        families
    }

    /// What is known beforehand is there from the start: a series that begins with its first event hides that
    /// event from whoever asks for the increase.
    fn begin(&self) {
        for door in ["responses", "chat", "execute"] {
            drop(self.executions.get_or_create(&[("door", door), ("ending", "ok")]));
            drop(self.execution_durations.get_or_create(&[("door", door)]));
            for stream in ["false", "true"] {
                drop(self.requests.get_or_create(&[("api", door), ("status", "2xx"), ("stream", stream)]));
                drop(self.durations.get_or_create(&[("api", door), ("stream", stream)]));
                drop(self.overheads.get_or_create(&[("api", door), ("stream", stream)]));
            }
        }
        for limit in ["memory", "time", "output", "disk", "processes", "requests_per_minute", "executions"] {
            drop(self.limits_hit.get_or_create(&[("limit", limit)]));
        }
        for by in ["rule", "webhook", "person", "default"] {
            for verdict in ["allowed", "denied"] {
                drop(self.decisions.get_or_create(&[("by", by), ("verdict", verdict)]));
            }
        }
        for verdict in ["allowed", "denied", "failed"] {
            drop(self.connections.get_or_create(&[("way", "connect"), ("verdict", verdict)]));
        }
        for direction in ["sent", "received"] {
            drop(self.connection_bytes.get_or_create(&[("direction", direction)]));
        }
        for how in ["create", "wake"] {
            drop(self.sandbox_starts.get_or_create(&[("how", how), ("outcome", "ok")]));
        }
    }

    /// A backend has all of its series from the start.
    pub(super) fn know_backend(&self, name: &str) {
        let name = || ("backend", Cow::Owned(name.to_owned()));
        for ending in ["ok", "failed"] {
            drop(self.backend_executions.get_or_create(&[name(), ("ending", ending.into())]));
        }
        drop(self.backend_failures.get_or_create(&[name()]));
        drop(self.backend_available.get_or_create(&[name()]));
    }

    fn register_rest(&self, registry: &mut Registry) {
        registry.register("executions", "Executions of code, by how they ended", self.executions.clone());
        let help = "How long code ran";
        let durations = self.execution_durations.clone();
        registry.register_with_unit("execution_duration", help, Unit::Seconds, durations);
        let help = "Executions of code, by the backend they were for and how they ended";
        registry.register("backend_executions", help, self.backend_executions.clone());
        let help = "Failures of a backend by its own fault: not reached, too slow, or talking nonsense";
        registry.register("backend_failures", help, self.backend_failures.clone());
        let help = "Whether a backend is asked; 0 while it rests after failures in a row";
        registry.register("backend_available", help, self.backend_available.clone());
        registry.register("limits_hit", "Limits that were reached", self.limits_hit.clone());
        let help = "What was decided before code ran, and by whom";
        registry.register("approval_decisions", help, self.decisions.clone());
        registry.register("approvals_held", "Executions that wait for a person", self.held.clone());
        let help = "How long starting a sandbox took: a new one, or one woken over its files";
        registry.register_with_unit("sandbox_start", help, Unit::Seconds, self.sandbox_starts.clone());
        let help = "Connections of sandboxes that are over or were refused";
        registry.register("connections", help, self.connections.clone());
        let help = "Bytes that left sandboxes and came into them";
        registry.register("connection_bytes", help, self.connection_bytes.clone());
        let help = "Whether sandboxes can be made, as far as one can tell without trying";
        registry.register("sandboxes_healthy", help, self.healthy.clone());
        registry.register("sandboxes_live", "Sandboxes with processes", self.sandboxes.clone());
        registry.register("containers", "Containers that are kept", self.containers.clone());
        registry.register("store_queue", "Jobs that wait for the database", self.store_queue.clone());
        registry.register("pool_ready", "Sandboxes made ahead and not used yet", self.pool_ready.clone());
        let help = "New sandboxes by where they came from: warm, cold, or none ready (miss)";
        registry.register("pool_claims", help, self.pool_claims.clone());
    }

    /// What is looked up, not counted.
    pub(super) fn set(&self, now: &Now) {
        set(&self.held, now.approvals_held);
        set(&self.healthy, usize::from(now.is_healthy));
        set(&self.sandboxes, now.sandboxes);
        set(&self.containers, now.containers);
        set(&self.store_queue, now.store_queue);
        let pool = &now.backend;
        set(&self.pool_ready.get_or_create(&[("kind", "warm")]), pool.ready_warm);
        set(&self.pool_ready.get_or_create(&[("kind", "cold")]), pool.ready_cold);
        let claims = [("warm", pool.claimed_warm), ("cold", pool.claimed_cold), ("miss", pool.misses)];
        for (kind, count) in claims {
            count_to(&self.pool_claims.get_or_create(&[("kind", kind)]), count);
        }
        for report in &now.backends {
            let labels = [("backend", Cow::Owned(report.name.clone()))];
            set(&self.backend_available.get_or_create(&labels), usize::from(report.is_available));
            count_to(&self.backend_failures.get_or_create(&labels), report.failures);
        }
    }
}

/// What somebody else counts.
fn count_to(counter: &Counter, count: u64) {
    let inner: &AtomicU64 = counter.inner();
    inner.store(count, Ordering::Relaxed);
}

fn set(gauge: &Gauge, value: usize) {
    gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
}
