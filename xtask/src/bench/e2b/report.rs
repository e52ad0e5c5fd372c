//! The figures of the E2B door as a table, and the bars.

use super::rounds::WAYS;
use crate::bench::pairs;
use crate::bench::samples::Samples;
use crate::bench::targets::Target;

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
    pairs::times(samples, WAYS, &STEPS)
}

pub(super) fn bars(samples: &Samples) -> Vec<Target> {
    pairs::bars(samples, &BARS)
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
