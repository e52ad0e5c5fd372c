//! The figures of the languages as tables for people and as JSON with every sample.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Serialize;

use super::bars::bars;
use super::trials::TRIALS;
use crate::bench::markdown::{figure, table};
use crate::bench::samples::{Samples, Summary};
use crate::bench::targets::{Bound, Target};

#[derive(Debug)]
pub(super) struct Report {
    pub(super) command: String,
    /// On what, and with which versions.
    pub(super) measured: String,
    pub(super) samples: Samples,
}

impl Report {
    pub(super) fn as_json(&self) -> Result<String> {
        #[derive(Serialize)]
        struct Json<'a> {
            command: &'a str,
            measured: &'a str,
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
        let parts = [format!("`{}`", self.command), self.measured.clone(), self.times(), self.held()];
        parts.join("\n\n")
    }

    fn times(&self) -> String {
        let title =
            ["median, ms", "by hand", "create → first", "× by hand", "p90 of first", "warm", "p90 of warm"];
        let mut rows = vec![title.map(str::to_owned)];
        for trial in TRIALS {
            let of = |part: &str| self.samples.summary(&format!("{}_{part}_ms", trial.name));
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
