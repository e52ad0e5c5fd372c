//! What has to hold, from the issue that asked for the languages; medians throughout.

use crate::bench::samples::Samples;
use crate::bench::targets::{Bound, Target};

/// How much longer than the bare tool a first result may take, sandbox and all.
const BESIDE_BARE: f64 = 1.3;
const WARM_MS: f64 = 5.0;

pub(super) fn bars(samples: &Samples) -> Vec<Target> {
    let ratio = |over: &str, under: &str| Some(samples.median(over)? / samples.median(under)?);
    let rows = [
        ("JavaScript: warm run, ms", WARM_MS, samples.median("javascript_warm_ms")),
        ("Bash: warm run, ms", WARM_MS, samples.median("bash_warm_ms")),
        ("Java: create → first result, × jshell", BESIDE_BARE, ratio("java_first_ms", "java_bare_ms")),
        ("Go: create → first result, × go run", BESIDE_BARE, ratio("go_first_ms", "go_bare_ms")),
        ("Go: the same program again, × the first time", 1.0, ratio("go_warm_ms", "go_first_ms")),
    ];
    rows.into_iter().map(|(what, most, measured)| Target::new(what, Bound::AtMost(most), measured)).collect()
}
