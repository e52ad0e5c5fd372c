//! What the driver said, round by round.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::bench::pairs::{Ways, keep_step};
use crate::bench::samples::Samples;

pub(super) const STUB: &str = "stub";
pub(super) const SANDGATE: &str = "sandgate";
pub(super) const WAYS: Ways = Ways { base: (STUB, "stub"), own: (SANDGATE, "Sandgate") };

#[derive(Debug, Deserialize)]
struct Line {
    server: String,
    /// Milliseconds, by step.
    times: BTreeMap<String, Vec<f64>>,
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
            keep_step(samples, WAYS, step, times, &sandgate.times[step]);
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "rounds_tests.rs"]
mod tests;
