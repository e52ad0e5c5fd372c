//! `cargo xtask bench engine`: the embedded engine beside its peers, in one run, round by round.

pub(crate) mod backends;
mod cells;
mod crowd;
pub(crate) mod e2b;
mod engines;
mod finding;
pub(crate) mod gate;
pub(crate) mod languages;
mod machine;
mod markdown;
mod memory;
pub(crate) mod network;
mod pairs;
mod peers;
mod place;
mod record;
mod report;
mod rounds;
mod samples;
mod sustained;
mod targets;
mod venv;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;

use crate::ground::Ground;
use crate::runtime;
use finding::{Finding, optimised};
use samples::Samples;

/// The packages every subject imports in its first cell, and the result that cell must have: 42.
const FIRST_CELL: &str = "import numpy as np, pandas as pd, matplotlib.pyplot as plt\n6*7";
/// The same work for a program without a kernel.
const FIRST_PROGRAM: &str = "import numpy as np, pandas as pd, matplotlib.pyplot as plt\nprint(6*7)";
const WARM_CELL: &str = "6*7";

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Rounds: in each, every peer is measured once and the engine four times from the pool and on demand.
    #[arg(long, default_value_t = 30)]
    samples: usize,
    /// How many sandboxes are to live at once.
    #[arg(long, default_value_t = 500)]
    live: usize,
    /// How many sandboxes are made in a row for the rate.
    #[arg(long, default_value_t = 300)]
    creations: usize,
    /// Put the tables into BENCHMARKS.md.
    #[arg(long)]
    record: bool,
}

pub(crate) fn run(ground: &Ground, options: &Options) -> Result<ExitCode> {
    let arguments =
        format!("--samples {} --live {} --creations {}", options.samples, options.live, options.creations);
    if let Some(done) = optimised(ground, "engine", &arguments, options.record)? {
        return Ok(done);
    }
    let runtime = runtime::shared(ground)?;
    let peers = venv::prepare(ground, &runtime)?;
    let machine = machine::look(ground, &peers)?;
    machine.warn_if_busy();

    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut samples = Samples::default();
    tokio.block_on(measure(ground, &peers, options, &mut samples))?;

    let (measured, bars) = (machine.as_text(), targets::targets(&samples, options.live));
    let tables = vec![report::figures(&samples, options.live), report::against_least(&samples)];
    Finding { name: "engine", arguments, measured, tables, bars, samples }.publish(ground, options.record)
}

async fn measure(
    ground: &Ground,
    peers: &venv::PeerVenv,
    options: &Options,
    samples: &mut Samples,
) -> Result<()> {
    rounds::measure(ground, peers, options.samples, samples).await?;
    let engine = engines::on_demand(ground).await?;
    memory::measure(&engine, samples).await?;
    sustained::measure(&engine, options.creations, samples).await?;
    crowd::measure(&engine, options.live, samples).await?;
    engine.end().await;
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
