//! What has to hold, from the issue that asked for the gate.

use super::bodies::Size;
use super::round::added_series;
use super::subjects::Subject;
use super::{loops, passing};
use crate::bench::samples::Samples;
use crate::bench::targets::{Bound, Target};

const PASS_MS: f64 = 0.3;
const FIRST_BYTE_MS: f64 = 1.0;
const LOOP_MS: f64 = 3.0;
const MEMORY_MIB: f64 = 60.0;

pub(super) fn bars(samples: &Samples) -> Vec<Target> {
    let mut rows = Vec::new();
    let mut added = |what: String, case: &str, most: f64| {
        rows.push((what, most, samples.median(&added_series(case, Subject::Gate))));
    };
    for delay in passing::DELAYS {
        for size in Size::ALL {
            let what = format!("pass-through, {} body, model takes {delay} ms: added, ms", size.name());
            added(what, &passing::case(size, delay), PASS_MS);
        }
    }
    added("stream passed on: first byte later by, ms".to_owned(), "stream_first", FIRST_BYTE_MS);
    added(
        "stream with the code tool: first byte later by, ms".to_owned(),
        "tool_stream_first",
        FIRST_BYTE_MS,
    );
    for delay in passing::DELAYS {
        let what = format!("loop, known container, model takes {delay} ms: added, ms");
        added(what, &loops::case(delay), LOOP_MS);
        let what = format!("loop, new container, model takes {delay} ms: added, ms");
        added(what, &loops::fresh_case(delay), LOOP_MS);
    }
    let errors = [samples.median("crowd_fresh_gate_errors"), samples.median("crowd_gate_errors")];
    let errors = errors.into_iter().sum::<Option<f64>>();
    rows.push(("200 loops at once: errors".to_owned(), 0.0, errors));
    let peak = samples.median("gate_crowd_peak_mib");
    rows.push(("200 loops at once: the gate's memory at most, MiB".to_owned(), MEMORY_MIB, peak));
    let bar = |(what, most, measured)| Target::new(what, Bound::AtMost(most), measured);
    rows.into_iter().map(bar).collect()
}

#[cfg(test)]
#[path = "bars_tests.rs"]
mod tests;
