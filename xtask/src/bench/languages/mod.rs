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
use super::machine::{first_line, in_tree, value_in};
use super::samples::Samples;
use super::{record, write};
use crate::ground::Ground;
use crate::run::must;
use crate::runtime;
use crate::say::say;
use bare::Bare;
use report::Report;
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
    must(ground.cargo(&["build", "--quiet", "--release", "--package", "sandgate"]))?;
    if cfg!(debug_assertions) {
        return run_optimised(ground, options);
    }
    let python = runtime::shared(ground)?;
    runtime::languages(ground)?;
    let measured = measured_on(ground);
    let bare = Bare::prepare(ground, &python)?;
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut samples = Samples::default();
    tokio.block_on(Box::pin(measure(ground, &bare, options.rounds, &mut samples)))?;

    let command = format!("cargo xtask bench languages --rounds {}", options.rounds);
    let report = Report { command, measured, samples };
    let text = report.as_text();
    say(&text);
    let out = ground.target.join("bench-languages.json");
    write(&out, &report.as_json()?)?;
    say(&format!("\nraw samples: {}", out.display()));
    if options.record {
        record::put(&ground.root.join("BENCHMARKS.md"), "languages", &text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Figures without it mean nothing.
fn measured_on(ground: &Ground) -> String {
    let runtimes = ground.test_home().join("runtimes");
    let versions = Tool::ALL.into_iter().filter_map(|tool| match state(&runtimes, tool) {
        State::Ready(ready) => Some(format!("{} {}", tool.title(), ready.version)),
        State::Outdated | State::Broken | State::Missing => None,
    });
    let versions: Vec<String> = versions.collect();
    format!(
        "{} × {}, kernel {}, {}; load {} before; {}; commit {}.",
        std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
        value_in("/proc/cpuinfo", "model name"),
        first_line("/proc/sys/kernel/osrelease"),
        value_in("/etc/os-release", "PRETTY_NAME="),
        first_line("/proc/loadavg").split(' ').next().unwrap_or_default(),
        versions.join(", "),
        in_tree(ground, "git", &["describe", "--always", "--dirty"]),
    )
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

/// This program again, built as what it measures is built.
fn run_optimised(ground: &Ground, options: Options) -> Result<ExitCode> {
    let mut command =
        ground.cargo(&["run", "--quiet", "--release", "--package", "xtask", "--", "bench", "languages"]);
    command.arg("--rounds").arg(options.rounds.to_string());
    if options.record {
        command.arg("--record");
    }
    must(command)?;
    Ok(ExitCode::SUCCESS)
}
