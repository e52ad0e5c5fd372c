//! `cargo xtask bench languages`: contexts of every language beside the plain tool started by hand, round by round.

mod bare;
mod bars;
mod report;
mod trials;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, ensure};
use clap::Args;
use sandgate_core::{Backend, ExecuteRequest, Outcome, Sandbox, SandboxSpec};
use sandgate_engine::runtime::languages::{State, Tool, state};

use super::cells::milliseconds;
use super::engines::{self, BenchEngine};
use super::finding::{Finding, optimised};
use super::place;
use super::samples::Samples;
use crate::ground::Ground;
use crate::runtime;
use crate::say::say;
use bare::Bare;
use trials::{TRIALS, Trial};

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Options {
    /// Rounds: in each, every language is measured once in a new sandbox and once by hand.
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    /// Put the tables into BENCHMARKS.md.
    #[arg(long)]
    record: bool,
}

/// Cells on a context that has run others.
const WARM_CELLS: usize = 5;

pub(crate) fn run(ground: &Ground, options: Options) -> Result<ExitCode> {
    let arguments = format!("--rounds {}", options.rounds);
    if let Some(done) = optimised(ground, "languages", &arguments, options.record)? {
        return Ok(done);
    }
    let python = runtime::shared(ground)?;
    runtime::languages(ground)?;
    let measured = place::measured(ground, &versions(ground));
    let bare = Bare::prepare(ground, &python)?;
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut samples = Samples::default();
    tokio.block_on(Box::pin(measure(ground, &bare, options.rounds, &mut samples)))?;

    let (tables, bars) = (vec![report::times(&samples)], bars::bars(&samples));
    Finding { name: "languages", arguments, measured, tables, bars, samples }.publish(ground, options.record)
}

/// Those of the tools that were measured.
fn versions(ground: &Ground) -> String {
    let runtimes = ground.test_home().join("runtimes");
    let versions = Tool::ALL.into_iter().filter_map(|tool| match state(&runtimes, tool) {
        State::Ready(ready) => Some(format!("{} {}", tool.title(), ready.version)),
        State::Outdated | State::Broken | State::Missing => None,
    });
    versions.collect::<Vec<_>>().join(", ")
}

async fn measure(ground: &Ground, bare: &Bare, rounds: usize, samples: &mut Samples) -> Result<()> {
    let engine = engines::pooled(ground).await?;
    // Once for the caches, not counted.
    round(&engine, bare, 0, &mut Samples::default()).await?;
    for number in 1..=rounds {
        round(&engine, bare, number, samples).await?;
        if number % 5 == 0 || number == rounds {
            say(&format!("round {number} of {rounds}"));
        }
    }
    engine.end().await;
    Ok(())
}

async fn round(engine: &BenchEngine, bare: &Bare, number: usize, samples: &mut Samples) -> Result<()> {
    for at in 0..TRIALS.len() {
        // Another one begins each time, so that none always follows the same other.
        let trial = &TRIALS[(number + at) % TRIALS.len()];
        let took = tokio::task::block_in_place(|| bare.run(trial, number))?;
        samples.add(&format!("{}_bare_ms", trial.name), took);
        engine.settled().await;
        ours(engine, trial, number, samples).await?;
    }
    Ok(())
}

async fn ours(engine: &BenchEngine, trial: &Trial, number: usize, samples: &mut Samples) -> Result<()> {
    let backend = engine.engine.as_ref();
    let begun = Instant::now();
    let sandbox = backend.create(SandboxSpec::default()).await?;
    cell(sandbox.as_ref(), trial, number).await?;
    samples.add(&format!("{}_first_ms", trial.name), milliseconds(begun));
    for _ in 0..WARM_CELLS {
        let begun = Instant::now();
        cell(sandbox.as_ref(), trial, number).await?;
        samples.add(&format!("{}_warm_ms", trial.name), milliseconds(begun));
    }
    backend.delete(sandbox.id()).await?;
    Ok(())
}

async fn cell(sandbox: &dyn Sandbox, trial: &Trial, number: usize) -> Result<()> {
    let (code, language) = (trial.code(number), Some(trial.name.to_owned()));
    let request = ExecuteRequest { code, language, ..ExecuteRequest::default() };
    let outcome = Outcome::collect(sandbox.execute(request).await?).await?;
    let value = outcome.results.last().and_then(|result| result.data.get("text/plain")?.as_str());
    let said = value.unwrap_or(outcome.stdout.trim_end());
    let expected = trial.expected(number);
    ensure!(said == expected, "{} answered {said:?} instead of {expected}: {outcome:?}", trial.name);
    Ok(())
}
