//! The server's metrics at one moment, read from what Prometheus would be given, and what happened between two.

use std::collections::BTreeMap;

/// All series by name and labels, as they are written: `sandgate_tokens_total{model="m",kind="input"}`.
#[derive(Clone, Debug, Default)]
pub(super) struct Sample(BTreeMap<String, f64>);

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

impl Sample {
    /// Of the text form; lines that are not figures are passed over.
    pub(super) fn read(text: &str) -> Self {
        let figure = |line: &str| {
            let (name, value) = line.rsplit_once(' ')?;
            Some((name.strip_prefix("sandgate_")?.to_owned(), value.parse().ok()?))
        };
        Self(text.lines().filter(|line| !line.starts_with('#')).filter_map(figure).collect())
    }

    /// Every series of this name whose labels are wanted.
    fn series<'a>(
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
        self.series(name, wanted).map(|(_, value)| value).sum()
    }
}

impl Step {
    pub(super) fn between(from: &Sample, to: &Sample, seconds: f64) -> Self {
        // A counter never falls; if it seems to, nothing is known.
        let rate = |name: &str, wanted: &dyn Fn(&str) -> bool| {
            (to.sum(name, wanted) - from.sum(name, wanted)).max(0.0) / seconds
        };
        let now = |name: &str, wanted: &dyn Fn(&str) -> bool| to.sum(name, wanted);
        let all = |_: &str| true;
        let of_clients = |labels: &str| {
            !["health", "metrics", "console"].iter().any(|api| labels.contains(&format!("api=\"{api}\"")))
        };
        let failed = |labels: &str| {
            of_clients(labels) && (labels.contains("status=\"4") || labels.contains("status=\"5"))
        };
        let times = |name: &str, wanted: &dyn Fn(&str) -> bool| {
            let spread = Spread::between(from, to, name, wanted);
            (spread.quantile(0.5), spread.quantile(0.95))
        };
        let (request_p50, request_p95) = times("request_duration_seconds", &of_clients);
        let (overhead_p50, overhead_p95) = times("request_overhead_seconds", &of_clients);
        let (execution_p50, execution_p95) = times("execution_duration_seconds", &all);
        let (turn_p50, turn_p95) = times("model_turn_duration_seconds", &all);
        Self {
            requests: rate("requests_total", &of_clients),
            failed: rate("requests_total", &failed),
            request_p50,
            request_p95,
            overhead_p50,
            overhead_p95,
            executions: rate("executions_total", &all),
            executions_failed: rate("executions_total", &|labels| !labels.contains("ending=\"ok\"")),
            execution_p50,
            execution_p95,
            turn_p50,
            turn_p95,
            tokens: rate("tokens_total", &all),
            misses: rate("pool_claims_total", &|labels| labels.contains("miss")),
            sandboxes: now("sandboxes_live", &all),
            containers: now("containers", &all),
            pool_warm: now("pool_ready", &|labels| labels.contains("warm")),
            pool_cold: now("pool_ready", &|labels| labels.contains("cold")),
            under_way: now("requests_under_way", &all),
            held: now("approvals_held", &all),
            limits: limits(to),
        }
    }
}

fn limits(sample: &Sample) -> Vec<(String, u64)> {
    let hits = sample.series("limits_hit_total", |_| true);
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

/// How long things took between two samples: upper bounds, and how many stayed below.
struct Spread(Vec<(f64, f64)>);

impl Spread {
    fn between(from: &Sample, to: &Sample, name: &str, wanted: &dyn Fn(&str) -> bool) -> Self {
        let buckets = format!("{name}_bucket");
        let gather = |sample: &Sample, sign: f64, sums: &mut BTreeMap<String, f64>| {
            for (labels, count) in sample.series(&buckets, wanted) {
                if let Some(bound) = label(labels, "le") {
                    *sums.entry(bound.to_owned()).or_default() += sign * count;
                }
            }
        };
        let mut sums = BTreeMap::new();
        gather(to, 1.0, &mut sums);
        gather(from, -1.0, &mut sums);
        let bound = |text: &str| text.parse().unwrap_or(f64::INFINITY);
        let mut spread: Vec<(f64, f64)> = sums.iter().map(|(le, count)| (bound(le), *count)).collect();
        spread.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self(spread)
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
