//! What the driver said, round by round: the times of both servers, and the difference of their medians
//! within the round. A machine that becomes slower meanwhile changes both alike.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::bench::samples::Samples;

pub(super) const STUB: &str = "stub";
pub(super) const SANDGATE: &str = "sandgate";

#[derive(Debug, Deserialize)]
struct Line {
    server: String,
    /// Milliseconds, by step.
    times: BTreeMap<String, Vec<f64>>,
}

pub(super) fn series(step: &str, server: &str) -> String {
    format!("{step}_{server}_ms")
}

/// One value for each round.
pub(super) fn added_series(step: &str) -> String {
    format!("{step}_added_ms")
}

/// The driver's lines come in pairs, one of each server.
pub(super) fn keep(said: &str, samples: &mut Samples) -> Result<()> {
    let lines: Vec<Line> = said
        .lines()
        .map(|line| serde_json::from_str(line).with_context(|| format!("the driver said: {line}")))
        .collect::<Result<_>>()?;
    for pair in lines.chunks(2) {
        let of = |server: &str| pair.iter().find(|line| line.server == server);
        let (Some(stub), Some(sandgate)) = (of(STUB), of(SANDGATE)) else {
            anyhow::bail!("a round of the driver is not whole");
        };
        ensure!(stub.times.keys().eq(sandgate.times.keys()), "the servers were not asked the same");
        for (step, times) in &stub.times {
            let own = &sandgate.times[step];
            samples.add_all(&series(step, STUB), times);
            samples.add_all(&series(step, SANDGATE), own);
            if let (Some(own), Some(base)) = (median(own), median(times)) {
                samples.add(&added_series(step), own - base);
            }
        }
    }
    Ok(())
}

fn median(times: &[f64]) -> Option<f64> {
    let mut samples = Samples::default();
    samples.add_all("", times);
    samples.median("")
}

#[cfg(test)]
#[path = "rounds_tests.rs"]
mod tests;
