//! What was measured, and the few numbers that stand for many.

use std::collections::BTreeMap;

use serde::Serialize;

/// All series of a run, by name; the name ends with the unit.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub(super) struct Samples(BTreeMap<String, Vec<f64>>);

impl Samples {
    pub(super) fn add(&mut self, series: &str, value: f64) {
        self.0.entry(series.to_owned()).or_default().push(value);
    }

    pub(super) fn add_all(&mut self, series: &str, values: &[f64]) {
        self.0.entry(series.to_owned()).or_default().extend(values);
    }

    /// None: nothing of that name was measured.
    pub(super) fn summary(&self, series: &str) -> Option<Summary> {
        Summary::of(self.0.get(series)?)
    }

    pub(super) fn median(&self, series: &str) -> Option<f64> {
        self.summary(series).map(|summary| summary.median)
    }

    pub(super) fn summaries(&self) -> BTreeMap<&str, Summary> {
        let all = self.0.iter().filter_map(|(name, values)| Some((name.as_str(), Summary::of(values)?)));
        all.collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Summary {
    pub(super) count: usize,
    pub(super) min: f64,
    pub(super) median: f64,
    pub(super) p90: f64,
    pub(super) p99: f64,
    pub(super) max: f64,
}

impl Summary {
    fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 {
            sorted[middle]
        } else {
            f64::midpoint(sorted[middle - 1], sorted[middle])
        };
        let rank = |percent: usize| sorted[(sorted.len() * percent).div_ceil(100).saturating_sub(1)];
        Some(Self { count: sorted.len(), min, median, p90: rank(90), p99: rank(99), max })
    }
}

#[cfg(test)]
#[path = "samples_tests.rs"]
mod tests;
