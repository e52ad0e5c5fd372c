//! The figures as tables for people and as JSON with every sample.

use anyhow::Result;
use serde::Serialize;

use super::Options;
use super::crowd;
use super::machine::Machine;
use super::samples::Samples;
use super::targets::{Bound, Target, targets};

#[derive(Debug)]
pub(super) struct Report {
    command: String,
    machine: Machine,
    samples: Samples,
    live: usize,
    targets: Vec<Target>,
}

impl Report {
    pub(super) fn new(machine: Machine, options: &Options, samples: Samples) -> Self {
        let command = format!(
            "cargo xtask bench engine --samples {} --live {} --creations {}",
            options.samples, options.live, options.creations
        );
        let targets = targets(&samples, options.live);
        Self { command, machine, samples, live: options.live, targets }
    }

    pub(super) fn as_json(&self) -> Result<String> {
        #[derive(Serialize)]
        struct Json<'a> {
            command: &'a str,
            machine: &'a Machine,
            targets: &'a [Target],
            summaries: std::collections::BTreeMap<&'a str, super::samples::Summary>,
            samples: &'a Samples,
        }
        let json = Json {
            command: &self.command,
            machine: &self.machine,
            targets: &self.targets,
            summaries: self.samples.summaries(),
            samples: &self.samples,
        };
        Ok(serde_json::to_string_pretty(&json)?)
    }

    /// Markdown, to be put into BENCHMARKS.md as it is.
    pub(super) fn as_text(&self) -> String {
        let title = ["what", "n", "median", "p90", "p99", "ipykernel ×"].map(str::to_owned);
        let mut figures = vec![title.to_vec()];
        figures.extend(self.rows().into_iter().filter_map(|row| self.figures(&row)));
        let mut held = vec![["target (medians)", "wanted", "measured", "held"].map(str::to_owned).to_vec()];
        held.extend(self.targets.iter().map(target_row));
        let machine = self.machine.as_text();
        let parts =
            [format!("`{}`", self.command), machine, table(&figures), table(&held), self.against_least()];
        parts.join("\n\n")
    }

    /// The same two ratios against the peer at its best, for readers who doubt that the usual wait is fair.
    fn against_least(&self) -> String {
        let least = self.samples.median("ipykernel_least_first_ms");
        let times = |series: &str| Some(number(least? / self.samples.median(series)?));
        let text = |series: &str| times(series).unwrap_or_else(|| "?".to_owned());
        format!(
            "Against ipykernel waiting as little as possible: {} × from the pool, {} × on demand.",
            text("pool_first_ms"),
            text("on_demand_first_ms")
        )
    }

    fn rows(&self) -> Vec<Row> {
        let row = |what: &str, series: &str, peer: Option<&'static str>| Row {
            what: what.into(),
            series: series.into(),
            peer,
        };
        let (first, warm) = (Some("ipykernel_first_ms"), Some("ipykernel_warm_ms"));
        let mut rows = vec![
            row("ipykernel: start → first result, ms", "ipykernel_first_ms", first),
            row("ipykernel, waiting as little as possible, ms", "ipykernel_least_first_ms", first),
            row("bwrap + python: start → result, ms", "bwrap_first_ms", first),
            row("sandbox on demand, no namespaces ready, ms", "nothing_ready_first_ms", first),
            row("sandbox on demand: create → first result, ms", "on_demand_first_ms", first),
            row("of which the call of create, ms", "on_demand_create_ms", None),
            row("sandbox from the pool: create → first result, ms", "pool_first_ms", first),
            row("of which the call of create, ms", "pool_create_ms", None),
            row("ipykernel: warm cell, ms", "ipykernel_warm_ms", warm),
            row("sandbox: warm cell, ms", "sandbox_warm_ms", warm),
            row("ipykernel: private memory, MiB", "ipykernel_private_mib", Some("ipykernel_private_mib")),
            row("sandbox: private memory, MiB", "sandbox_private_mib", Some("ipykernel_private_mib")),
            row("creations per second, 4 at a time", "sustained_per_second", None),
            row("create → first result, 4 at a time, ms", "sustained_first_ms", first),
        ];
        for size in crowd::sizes(self.live) {
            rows.push(row(
                &format!("create → first result, {size} live, ms"),
                &format!("first_with_{size}_live_ms"),
                first,
            ));
        }
        let live = self.live;
        rows.push(row(&format!("warm cell, {live} live, ms"), "crowd_warm_ms", warm));
        rows.push(row(
            &format!("all of the machine's memory per sandbox, {live} live, MiB"),
            "crowd_system_mib_each",
            None,
        ));
        rows
    }

    /// None: it was not measured.
    fn figures(&self, row: &Row) -> Option<Vec<String>> {
        let summary = self.samples.summary(&row.series)?;
        let times = row.peer.and_then(|peer| Some(self.samples.median(peer)? / summary.median));
        Some(vec![
            row.what.clone(),
            summary.count.to_string(),
            number(summary.median),
            number(summary.p90),
            number(summary.p99),
            times.map_or_else(String::new, number),
        ])
    }
}

struct Row {
    what: String,
    series: String,
    /// The series it is compared with.
    peer: Option<&'static str>,
}

fn target_row(target: &Target) -> Vec<String> {
    let wanted = match target.bound {
        Bound::AtLeast(bound) => format!("≥ {bound}"),
        Bound::AtMost(bound) => format!("≤ {bound}"),
    };
    let measured = target.measured.map_or_else(|| "not measured".to_owned(), number);
    vec![target.what.clone(), wanted, measured, if target.held { "yes" } else { "NO" }.to_owned()]
}

/// Three digits that count.
fn number(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

/// A Markdown table that is straight on a terminal as well; the first column is text, the others figures.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
    };
    let rule = widths.iter().enumerate().map(|(column, width)| match column {
        0 => "-".repeat(*width),
        _ => format!("{}:", "-".repeat(width.saturating_sub(1))),
    });
    let rule = line(&rule.collect());
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    lines.insert(lines.len().min(1), rule);
    lines.join("\n")
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
