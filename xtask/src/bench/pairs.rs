//! Two ways to the same thing, in turn within every round: the times of both, and the difference of their medians
//! within the round. A machine that becomes slower meanwhile changes both alike.

use super::markdown::{figure, table};
use super::samples::Samples;
use super::targets::{Bound, Target};

/// The two ways, each as it is called in series and in tables.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ways {
    pub(super) base: (&'static str, &'static str),
    pub(super) own: (&'static str, &'static str),
}

pub(super) fn series(step: &str, way: &str) -> String {
    format!("{step}_{way}_ms")
}

/// One value for each round.
pub(super) fn added_series(step: &str) -> String {
    format!("{step}_added_ms")
}

/// What both took for a step in one round.
pub(super) fn keep_step(samples: &mut Samples, ways: Ways, step: &str, base: &[f64], own: &[f64]) {
    samples.add_all(&series(step, ways.base.0), base);
    samples.add_all(&series(step, ways.own.0), own);
    if let (Some(own), Some(base)) = (median(own), median(base)) {
        samples.add(&added_series(step), own - base);
    }
}

fn median(times: &[f64]) -> Option<f64> {
    let mut samples = Samples::default();
    samples.add_all("", times);
    samples.median("")
}

/// `steps`: what each is called, and its series.
pub(super) fn times(samples: &Samples, ways: Ways, steps: &[(&str, &str)]) -> String {
    let head = ["median, ms", ways.base.1, ways.own.1, "p99", "added", "×"].map(str::to_owned);
    let mut rows = vec![head];
    for (what, step) in steps {
        let base = samples.median(&series(step, ways.base.0));
        let own = samples.summary(&series(step, ways.own.0));
        let median = own.map(|own| own.median);
        rows.push([
            (*what).to_owned(),
            figure(base),
            figure(median),
            figure(own.map(|own| own.p99)),
            figure(samples.median(&added_series(step))),
            figure(median.zip(base).map(|(own, base)| own / base)),
        ]);
    }
    table(&rows)
}

/// What may be added at most: its name, the series, milliseconds.
pub(super) fn bars(samples: &Samples, bars: &[(&str, &str, f64)]) -> Vec<Target> {
    let bar = |(what, step, most): &(&str, &str, f64)| {
        Target::new(*what, Bound::AtMost(*most), samples.median(&added_series(step)))
    };
    bars.iter().map(bar).collect()
}

#[cfg(test)]
#[path = "pairs_tests.rs"]
mod tests;
