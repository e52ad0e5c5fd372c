//! The figures of the engine as tables.

use super::crowd;
use super::markdown::{figure, table};
use super::samples::Samples;

/// `live` is how many sandboxes were to live at once.
pub(super) fn figures(samples: &Samples, live: usize) -> String {
    let mut table_rows = vec![["what", "n", "median", "p90", "p99", "ipykernel ×"].map(str::to_owned)];
    table_rows.extend(rows(live).iter().filter_map(|wanted| row(samples, wanted)));
    table(&table_rows)
}

/// The same two ratios against the peer at its best, for readers who doubt that the usual wait is fair.
pub(super) fn against_least(samples: &Samples) -> String {
    let least = samples.median("ipykernel_least_first_ms");
    let times = |series: &str| Some(least? / samples.median(series)?);
    let text = |series: &str| times(series).map_or_else(|| "?".to_owned(), |times| figure(Some(times)));
    format!(
        "Against ipykernel waiting as little as possible: {} × from the pool, {} × on demand.",
        text("pool_first_ms"),
        text("on_demand_first_ms")
    )
}

fn rows(live: usize) -> Vec<Row> {
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
    for size in crowd::sizes(live) {
        rows.push(row(
            &format!("create → first result, {size} live, ms"),
            &format!("first_with_{size}_live_ms"),
            first,
        ));
    }
    rows.push(row(&format!("warm cell, {live} live, ms"), "crowd_warm_ms", warm));
    rows.push(row(
        &format!("all of the machine's memory per sandbox, {live} live, MiB"),
        "crowd_system_mib_each",
        None,
    ));
    rows
}

/// None: it was not measured.
fn row(samples: &Samples, row: &Row) -> Option<[String; 6]> {
    let summary = samples.summary(&row.series)?;
    let times = row.peer.and_then(|peer| Some(samples.median(peer)? / summary.median));
    Some([
        row.what.clone(),
        summary.count.to_string(),
        figure(Some(summary.median)),
        figure(Some(summary.p90)),
        figure(Some(summary.p99)),
        figure(times),
    ])
}

struct Row {
    what: String,
    series: String,
    /// The series it is compared with.
    peer: Option<&'static str>,
}
