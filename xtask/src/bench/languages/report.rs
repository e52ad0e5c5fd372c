//! The figures of the languages as a table.

use super::trials::TRIALS;
use crate::bench::markdown::{figure, table};
use crate::bench::samples::{Samples, Summary};

pub(super) fn times(samples: &Samples) -> String {
    let title =
        ["median, ms", "by hand", "create → first", "× by hand", "p90 of first", "warm", "p90 of warm"];
    let mut rows = vec![title.map(str::to_owned)];
    for trial in TRIALS {
        let of = |part: &str| samples.summary(&format!("{}_{part}_ms", trial.name));
        let (bare, first, warm) = (of("bare"), of("first"), of("warm"));
        let median = |summary: Option<Summary>| summary.map(|summary| summary.median);
        let times = median(first).zip(median(bare)).map(|(first, bare)| first / bare);
        rows.push([
            trial.name.to_owned(),
            figure(median(bare)),
            figure(median(first)),
            figure(times),
            figure(first.map(|summary| summary.p90)),
            figure(median(warm)),
            figure(warm.map(|summary| summary.p90)),
        ]);
    }
    table(&rows)
}
