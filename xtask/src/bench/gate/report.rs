//! The figures of the gate as tables for people and as JSON with every sample.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Serialize;

use super::bars::bars;
use super::bodies::Size;
use super::place::Measured;
use super::round::{added_series, series};
use super::subjects::Subject;
use super::{loops, passing};
use crate::bench::samples::{Samples, Summary};
use crate::bench::targets::{Bound, Target};

#[derive(Debug)]
pub(super) struct Report {
    pub(super) command: String,
    pub(super) measured: Measured,
    pub(super) samples: Samples,
    /// Why LiteLLM is not in the tables.
    pub(super) without_litellm: Option<String>,
}

impl Report {
    pub(super) fn as_json(&self) -> Result<String> {
        #[derive(Serialize)]
        struct Json<'a> {
            command: &'a str,
            measured: &'a Measured,
            without_litellm: Option<&'a str>,
            bars: Vec<Target>,
            summaries: BTreeMap<&'a str, Summary>,
            samples: &'a Samples,
        }
        Ok(serde_json::to_string_pretty(&Json {
            command: &self.command,
            measured: &self.measured,
            without_litellm: self.without_litellm.as_deref(),
            bars: bars(&self.samples),
            summaries: self.samples.summaries(),
            samples: &self.samples,
        })?)
    }

    /// Markdown, to be put into BENCHMARKS.md as it is.
    pub(super) fn as_text(&self) -> String {
        let mut parts = vec![format!("`{}`", self.command), self.measured.as_text()];
        if let Some(reason) = &self.without_litellm {
            parts.push(format!("LiteLLM is not in the tables: {reason}."));
        }
        parts.extend([self.times(), self.others(), self.held()]);
        parts.join("\n\n")
    }

    /// Medians of each way, and what the two gateways add.
    fn times(&self) -> String {
        let mut rows =
            vec![["median, ms", "direct", "gate", "LiteLLM", "gate adds", "LiteLLM adds"].map(str::to_owned)];
        for (what, case, base) in cases() {
            let time = |case: &str, subject| figure(self.samples.median(&series(case, subject)));
            let added = |subject| figure(self.samples.median(&added_series(&case, subject)));
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

    fn others(&self) -> String {
        let mut rows = vec![["what", "direct", "gate", "LiteLLM"].map(str::to_owned)];
        let median = |name: String| figure(self.samples.median(&name));
        let mut row = |what: &str, name: &dyn Fn(&str) -> String| {
            rows.push([
                what.to_owned(),
                median(name("direct")),
                median(name("gate")),
                median(name("litellm")),
            ]);
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
        let p99 = |name: &str| figure(self.samples.summary(name).map(|summary| summary.p99));
        for (after, name) in [(5, "crowd_fresh_gate_ms"), (9, "crowd_gate_ms")] {
            let litellm = p99(&name.replace("gate", "litellm"));
            rows.insert(after + 1, ["p99, ms".to_owned(), String::new(), p99(name), litellm]);
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

/// Three digits that count.
pub(in crate::bench) fn figure(value: Option<f64>) -> String {
    match value {
        None => String::new(),
        Some(0.0) => "0".to_owned(),
        Some(value) if value.abs() >= 100.0 => format!("{value:.0}"),
        Some(value) if value.abs() >= 10.0 => format!("{value:.1}"),
        Some(value) if value.abs() >= 1.0 => format!("{value:.2}"),
        Some(value) => format!("{value:.3}"),
    }
}

pub(in crate::bench) fn table<const COLUMNS: usize>(rows: &[[String; COLUMNS]]) -> String {
    let line = |row: &[String; COLUMNS]| format!("| {} |", row.join(" | "));
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    let rule = std::iter::once("---").chain(std::iter::repeat_n("---:", COLUMNS - 1));
    lines.insert(1, format!("| {} |", rule.collect::<Vec<_>>().join(" | ")));
    lines.join("\n")
}
