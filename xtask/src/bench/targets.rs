//! What has to hold, from the issue that asked for the engine; medians throughout.

use std::fmt;

use serde::Serialize;

use super::samples::Samples;

/// "Flat" in figures: the median with the full crowd is at most this many times the median with one.
const FLAT: f64 = 1.25;

#[derive(Debug, Serialize)]
pub(super) struct Target {
    pub(super) what: String,
    pub(super) bound: Bound,
    /// None: not measured.
    pub(super) measured: Option<f64>,
    pub(super) held: bool,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

impl Target {
    /// What was not measured does not hold.
    pub(super) fn new(what: impl Into<String>, bound: Bound, measured: Option<f64>) -> Self {
        let held = measured.is_some_and(|measured| bound.holds(measured));
        Self { what: what.into(), bound, measured, held }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(bound) => write!(formatter, "≥ {bound}"),
            Self::AtMost(bound) => write!(formatter, "≤ {bound}"),
        }
    }
}

impl Bound {
    fn holds(self, measured: f64) -> bool {
        match self {
            Self::AtLeast(bound) => measured >= bound,
            Self::AtMost(bound) => measured <= bound,
        }
    }
}

/// `live` is how many sandboxes were to live at once.
pub(super) fn targets(samples: &Samples, live: usize) -> Vec<Target> {
    let ratio = |over: &str, under: &str| Some(samples.median(over)? / samples.median(under)?);
    let all = live as f64;
    let crowded = format!("first_with_{live}_live_ms");
    let rows = [
        (
            "from the pool, × faster than ipykernel",
            Bound::AtLeast(500.0),
            ratio("ipykernel_first_ms", "pool_first_ms"),
        ),
        (
            "on demand, × faster than ipykernel",
            Bound::AtLeast(80.0),
            ratio("ipykernel_first_ms", "on_demand_first_ms"),
        ),
        ("warm cell, ms", Bound::AtMost(1.5), samples.median("sandbox_warm_ms")),
        ("private memory of an idle sandbox, MiB", Bound::AtMost(8.0), samples.median("sandbox_private_mib")),
        (
            "private memory of ipykernel, × an idle sandbox",
            Bound::AtLeast(15.0),
            ratio("ipykernel_private_mib", "sandbox_private_mib"),
        ),
        ("creations per second, sustained", Bound::AtLeast(80.0), samples.median("sustained_per_second")),
        ("live sandboxes that answer", Bound::AtLeast(all), samples.median("crowd_answered")),
        ("first result, full crowd × one live", Bound::AtMost(FLAT), ratio(&crowded, "first_with_1_live_ms")),
    ];
    rows.into_iter().map(|(what, bound, measured)| Target::new(what, bound, measured)).collect()
}

#[cfg(test)]
#[path = "targets_tests.rs"]
mod tests;
