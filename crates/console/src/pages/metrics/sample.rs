//! The server's metrics at one moment, read from what Prometheus would be given, and what happened between two.

use std::collections::BTreeMap;

/// All series by name and labels, as they are written: `sandgate_tokens_total{model="m",kind="input"}`. There may be
/// thousands, so they are not kept.
struct Series(BTreeMap<String, f64>);

/// What of them is shown, summed over labels: a few dozen numbers, however many models and doors there are.
#[derive(Clone, Debug, Default)]
pub(super) struct Sample {
    requests: f64,
    failed: f64,
    executions: f64,
    executions_failed: f64,
    tokens: f64,
    misses: f64,
    sandboxes: f64,
    containers: f64,
    pool_warm: f64,
    pool_cold: f64,
    under_way: f64,
    held: f64,
    limits: Vec<(String, u64)>,
    request_times: Buckets,
    overhead_times: Buckets,
    execution_times: Buckets,
    turn_times: Buckets,
}

/// Upper bounds in seconds, in order, and how many stayed below.
type Buckets = Vec<(f64, f64)>;

/// Rates are per second, times in seconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Step {
    pub(super) requests: f64,
    pub(super) failed: f64,
    pub(super) request_p50: f64,
    pub(super) request_p95: f64,
    pub(super) overhead_p50: f64,
    pub(super) overhead_p95: f64,
    pub(super) executions: f64,
    pub(super) executions_failed: f64,
    pub(super) execution_p50: f64,
    pub(super) execution_p95: f64,
    pub(super) turn_p50: f64,
    pub(super) turn_p95: f64,
    pub(super) tokens: f64,
    pub(super) misses: f64,
    pub(super) sandboxes: f64,
    pub(super) containers: f64,
    pub(super) pool_warm: f64,
    pub(super) pool_cold: f64,
    pub(super) under_way: f64,
    pub(super) held: f64,
    /// By name, since the start.
    pub(super) limits: Vec<(String, u64)>,
}

impl Series {
    /// Of the text form; lines that are not figures are passed over.
    fn read(text: &str) -> Self {
        let figure = |line: &str| {
            let (name, value) = line.rsplit_once(' ')?;
            Some((name.strip_prefix("sandgate_")?.to_owned(), value.parse().ok()?))
        };
        Self(text.lines().filter(|line| !line.starts_with('#')).filter_map(figure).collect())
    }

    /// Every series of this name whose labels are wanted.
    fn named<'a>(
        &'a self,
        name: &'a str,
        wanted: impl Fn(&str) -> bool + 'a,
    ) -> impl Iterator<Item = (&'a str, f64)> + 'a {
        self.0.range(name.to_owned()..).take_while(move |(key, _)| key.starts_with(name)).filter_map(
            move |(key, value)| {
                let labels = key.strip_prefix(name)?;
                let is_this = labels.is_empty() || labels.starts_with('{');
                (is_this && wanted(labels)).then_some((labels, *value))
            },
        )
    }

    fn sum(&self, name: &str, wanted: impl Fn(&str) -> bool) -> f64 {
        self.named(name, wanted).map(|(_, value)| value).sum()
    }

    fn buckets(&self, name: &str, wanted: impl Fn(&str) -> bool) -> Buckets {
        let name = format!("{name}_bucket");
        let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
        for (labels, count) in self.named(&name, wanted) {
            if let Some(bound) = label(labels, "le") {
                *sums.entry(bound).or_default() += count;
            }
        }
        let bound = |text: &str| text.parse().unwrap_or(f64::INFINITY);
        let mut buckets: Buckets = sums.iter().map(|(le, count)| (bound(le), *count)).collect();
        buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
        buckets
    }
}

impl Sample {
    /// Of the text form.
    pub(super) fn read(text: &str) -> Self {
        let series = Series::read(text);
        let all = |_: &str| true;
        let of_clients = |labels: &str| {
            !["health", "metrics", "console"].iter().any(|api| labels.contains(&format!("api=\"{api}\"")))
        };
        let failed = |labels: &str| {
            of_clients(labels) && (labels.contains("status=\"4") || labels.contains("status=\"5"))
        };
        Self {
            requests: series.sum("requests_total", of_clients),
            failed: series.sum("requests_total", failed),
            executions: series.sum("executions_total", all),
            executions_failed: series.sum("executions_total", |labels| !labels.contains("ending=\"ok\"")),
            tokens: series.sum("tokens_total", all),
            misses: series.sum("pool_claims_total", |labels| labels.contains("miss")),
            sandboxes: series.sum("sandboxes_live", all),
            containers: series.sum("containers", all),
            pool_warm: series.sum("pool_ready", |labels| labels.contains("warm")),
            pool_cold: series.sum("pool_ready", |labels| labels.contains("cold")),
            under_way: series.sum("requests_under_way", all),
            held: series.sum("approvals_held", all),
            limits: limits(&series),
            request_times: series.buckets("request_duration_seconds", of_clients),
            overhead_times: series.buckets("request_overhead_seconds", of_clients),
            execution_times: series.buckets("execution_duration_seconds", all),
            turn_times: series.buckets("model_turn_duration_seconds", all),
        }
    }
}

impl Step {
    pub(super) fn between(from: &Sample, to: &Sample, seconds: f64) -> Self {
        // A counter never falls; if it seems to, nothing is known.
        let rate = |value: fn(&Sample) -> f64| (value(to) - value(from)).max(0.0) / seconds;
        let times = |value: fn(&Sample) -> &Buckets| {
            let spread = Spread::between(value(from), value(to));
            (spread.quantile(0.5), spread.quantile(0.95))
        };
        let (request_p50, request_p95) = times(|sample| &sample.request_times);
        let (overhead_p50, overhead_p95) = times(|sample| &sample.overhead_times);
        let (execution_p50, execution_p95) = times(|sample| &sample.execution_times);
        let (turn_p50, turn_p95) = times(|sample| &sample.turn_times);
        Self {
            requests: rate(|sample| sample.requests),
            failed: rate(|sample| sample.failed),
            request_p50,
            request_p95,
            overhead_p50,
            overhead_p95,
            executions: rate(|sample| sample.executions),
            executions_failed: rate(|sample| sample.executions_failed),
            execution_p50,
            execution_p95,
            turn_p50,
            turn_p95,
            tokens: rate(|sample| sample.tokens),
            misses: rate(|sample| sample.misses),
            sandboxes: to.sandboxes,
            containers: to.containers,
            pool_warm: to.pool_warm,
            pool_cold: to.pool_cold,
            under_way: to.under_way,
            held: to.held,
            limits: to.limits.clone(),
        }
    }
}

fn limits(series: &Series) -> Vec<(String, u64)> {
    let hits = series.named("limits_hit_total", |_| true);
    hits.filter_map(|(labels, count)| {
        // Counts are small whole numbers.
        Some((label(labels, "limit")?.to_owned(), format!("{count:.0}").parse().ok()?))
    })
    .collect()
}

fn label<'a>(labels: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = labels.split_once(&format!("{name}=\""))?;
    rest.split('"').next()
}

/// How long things took between two samples.
struct Spread(Buckets);

impl Spread {
    fn between(from: &Buckets, to: &Buckets) -> Self {
        let before = |bound: f64| {
            from.iter().find(|(known, _)| known.total_cmp(&bound).is_eq()).map_or(0.0, |(_, count)| *count)
        };
        Self(to.iter().map(|(bound, count)| (*bound, count - before(*bound))).collect())
    }

    /// As Prometheus does it: between two bounds, in proportion. NaN: there was nothing.
    fn quantile(&self, part: f64) -> f64 {
        let all = self.0.last().map_or(0.0, |(_, count)| *count);
        if all < 0.5 {
            return f64::NAN;
        }
        let rank = part * all;
        let (mut lower, mut below) = (0.0, 0.0);
        for (bound, count) in &self.0 {
            if *count >= rank {
                let within = if count - below > 0.0 { (rank - below) / (count - below) } else { 1.0 };
                return if bound.is_finite() { lower + (bound - lower) * within } else { lower };
            }
            (lower, below) = (*bound, *count);
        }
        lower
    }
}

#[cfg(test)]
#[path = "sample_tests.rs"]
mod tests;
