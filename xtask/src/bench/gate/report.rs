//! The figures of the gate as tables.

use super::bodies::Size;
use super::round::{added_series, series};
use super::subjects::Subject;
use super::{loops, passing};
use crate::bench::markdown::{figure, table};
use crate::bench::samples::Samples;

/// Medians of each way, and what the two gateways add.
pub(super) fn times(samples: &Samples) -> String {
    let mut rows =
        vec![["median, ms", "direct", "gate", "LiteLLM", "gate adds", "LiteLLM adds"].map(str::to_owned)];
    for (what, case, base) in cases() {
        let time = |case: &str, subject| figure(samples.median(&series(case, subject)));
        let added = |subject| figure(samples.median(&added_series(&case, subject)));
        rows.push([
            what,
            time(&base, Subject::Direct),
            time(&case, Subject::Gate),
            time(&case, Subject::LiteLlm),
            added(Subject::Gate),
            added(Subject::LiteLlm),
        ]);
    }
    table(&rows)
}

pub(super) fn others(samples: &Samples) -> String {
    let mut rows = vec![["what", "direct", "gate", "LiteLLM"].map(str::to_owned)];
    let median = |name: String| figure(samples.median(&name));
    let mut row = |what: &str, name: &dyn Fn(&str) -> String| {
        rows.push([what.to_owned(), median(name("direct")), median(name("gate")), median(name("litellm"))]);
    };
    row("small requests passed on a second, 16 at once", &|way| format!("pass_{way}_per_second"));
    row("processor time of the server for each, ms", &|way| format!("pass_{way}_cpu_ms"));
    row("200 loops at once, new containers: errors", &|way| format!("crowd_fresh_{way}_errors"));
    row("loops a second", &|way| format!("crowd_fresh_{way}_per_second"));
    row("median, ms", &|way| format!("crowd_fresh_{way}_ms"));
    row("200 at once, known containers: errors", &|way| format!("crowd_{way}_errors"));
    row("loops a second", &|way| format!("crowd_{way}_per_second"));
    row("median, ms", &|way| format!("crowd_{way}_ms"));
    row("memory of the server under that load at most, MiB", &|way| format!("{way}_crowd_peak_mib"));
    let p99 = |name: &str| figure(samples.summary(name).map(|summary| summary.p99));
    for (after, name) in [(5, "crowd_fresh_gate_ms"), (9, "crowd_gate_ms")] {
        let litellm = p99(&name.replace("gate", "litellm"));
        rows.insert(after + 1, ["p99, ms".to_owned(), String::new(), p99(name), litellm]);
    }
    table(&rows)
}

/// What it is called, the case, and the case whose direct way it is compared with.
fn cases() -> Vec<(String, String, String)> {
    let mut rows = Vec::new();
    for delay in passing::DELAYS {
        for size in Size::ALL {
            let case = passing::case(size, delay);
            rows.push((format!("pass-through, {}, model {delay} ms", size.name()), case.clone(), case));
        }
    }
    for (name, with_tool) in passing::STREAMS {
        let with = if with_tool { "with the code tool" } else { "passed on" };
        for (part, what) in [("first", "first byte"), ("chunk", "each delta")] {
            let case = format!("{name}_{part}");
            rows.push((format!("stream {with}: {what}"), case.clone(), case));
        }
    }
    for delay in passing::DELAYS {
        let base = loops::case(delay);
        rows.push((format!("loop, known container, model 2 × {delay} ms"), base.clone(), base.clone()));
        rows.push((format!("loop, new container, model 2 × {delay} ms"), loops::fresh_case(delay), base));
    }
    rows.push(("the same code by /v1/execute".to_owned(), "execute".to_owned(), "execute".to_owned()));
    rows.push(("GET /health".to_owned(), "health".to_owned(), "health".to_owned()));
    rows
}
