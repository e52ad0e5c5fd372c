//! The figures of the E2B door as a table for people and as JSON with every sample.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Serialize;

use super::rounds::{SANDGATE, STUB, added_series, series};
use crate::bench::markdown::{figure, table};
use crate::bench::place::Measured;
use crate::bench::samples::{Samples, Summary};
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

#[derive(Debug)]
pub(super) struct Report {
    pub(super) command: String,
    pub(super) measured: Measured,
    pub(super) samples: Samples,
}

impl Report {
    pub(super) fn as_json(&self) -> Result<String> {
        #[derive(Serialize)]
        struct Json<'a> {
            command: &'a str,
            measured: &'a Measured,
            bars: Vec<Target>,
            summaries: BTreeMap<&'a str, Summary>,
            samples: &'a Samples,
        }
        Ok(serde_json::to_string_pretty(&Json {
            command: &self.command,
            measured: &self.measured,
            bars: bars(&self.samples),
            summaries: self.samples.summaries(),
            samples: &self.samples,
        })?)
    }

    /// Markdown, to be put into BENCHMARKS.md as it is.
    pub(super) fn as_text(&self) -> String {
        let command = format!("`{}`", self.command);
        [command, self.measured.as_text(), self.times(), self.held()].join("\n\n")
    }

    fn times(&self) -> String {
        let head = ["median, ms", "stub", "Sandgate", "p99", "added", "×"].map(str::to_owned);
        let mut rows = vec![head];
        for (what, step) in STEPS {
            let stub = self.samples.median(&series(step, STUB));
            let own = self.samples.summary(&series(step, SANDGATE));
            let median = own.map(|own| own.median);
            rows.push([
                what.to_owned(),
                figure(stub),
                figure(median),
                figure(own.map(|own| own.p99)),
                figure(self.samples.median(&added_series(step))),
                figure(median.zip(stub).map(|(own, stub)| own / stub)),
            ]);
        }
        table(&rows)
    }

    fn held(&self) -> String {
        let mut rows = vec![["bar", "at most", "measured", ""].map(str::to_owned)];
        for bar in bars(&self.samples) {
            let (Bound::AtMost(most) | Bound::AtLeast(most)) = bar.bound;
            let held = if bar.held { "held" } else { "**not held**" };
            rows.push([bar.what, most.to_string(), figure(bar.measured), held.to_owned()]);
        }
        table(&rows)
    }
}

fn bars(samples: &Samples) -> Vec<Target> {
    let bar = |(what, step, most): (&str, &str, f64)| {
        let measured = samples.median(&added_series(step));
        let held = measured.is_some_and(|measured| measured <= most);
        Target { what: what.to_owned(), bound: Bound::AtMost(most), measured, held }
    };
    BARS.into_iter().map(bar).collect()
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
