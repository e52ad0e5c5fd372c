//! The figures of the E2B door as a table, and the bars.

use super::rounds::{SANDGATE, STUB, added_series, series};
use crate::bench::markdown::{figure, table};
use crate::bench::samples::Samples;
use crate::bench::targets::{Bound, Target};

/// From the issue that asked for the door.
const BARS: [(&str, &str, f64); 2] =
    [("create plus first run: added, ms", "create_first", 15.0), ("warm run_code: added, ms", "warm", 3.0)];

const STEPS: [(&str, &str); 12] = [
    ("create", "create"),
    ("first run_code", "first"),
    ("create plus first run_code", "create_first"),
    ("warm run_code", "warm"),
    ("a command", "command"),
    ("write 1 KB", "write_1kb"),
    ("read 1 KB", "read_1kb"),
    ("write 1 MB", "write_1mb"),
    ("read 1 MB", "read_1mb"),
    ("write 100 MB", "write_100mb"),
    ("read 100 MB", "read_100mb"),
    ("kill", "kill"),
];

pub(super) fn times(samples: &Samples) -> String {
    let head = ["median, ms", "stub", "Sandgate", "p99", "added", "×"].map(str::to_owned);
    let mut rows = vec![head];
    for (what, step) in STEPS {
        let stub = samples.median(&series(step, STUB));
        let own = samples.summary(&series(step, SANDGATE));
        let median = own.map(|own| own.median);
        rows.push([
            what.to_owned(),
            figure(stub),
            figure(median),
            figure(own.map(|own| own.p99)),
            figure(samples.median(&added_series(step))),
            figure(median.zip(stub).map(|(own, stub)| own / stub)),
        ]);
    }
    table(&rows)
}

pub(super) fn bars(samples: &Samples) -> Vec<Target> {
    let bar = |(what, step, most): (&str, &str, f64)| {
        Target::new(what, Bound::AtMost(most), samples.median(&added_series(step)))
    };
    BARS.into_iter().map(bar).collect()
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
