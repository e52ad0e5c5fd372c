//! `cargo xtask bench gate`: what the gate adds to a model's answers, beside LiteLLM, round by round.

mod answers;
mod bars;
mod bodies;
mod client;
mod crowd;
mod litellm;
mod loops;
mod mock;
mod passing;
mod rate;
pub(super) mod report;
mod round;
pub(super) mod server;
mod subjects;

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use super::samples::Samples;
use super::{place, record, write};
use crate::ground::Ground;
use crate::run::must;
use crate::runtime;
use crate::say::say;
use report::Report;
use round::Round;
use subjects::Stage;

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Options {
    /// Fewer rounds: whether it works, not how fast it is.
    #[arg(long)]
    quick: bool,
    /// Put the tables into BENCHMARKS.md.
    #[arg(long)]
    record: bool,
}

/// How much is measured.
struct Amount {
    rounds: usize,
    loops_again: usize,
    requests: usize,
}

impl Options {
    fn amount(self) -> Amount {
        if self.quick {
            Amount { rounds: 5, loops_again: 2, requests: 1000 }
        } else {
            Amount { rounds: 30, loops_again: 10, requests: 4000 }
        }
    }
}

pub(crate) fn run(ground: &Ground, options: Options) -> Result<ExitCode> {
    must(ground.cargo(&["build", "--quiet", "--release", "--package", "sandgate"]))?;
    if cfg!(debug_assertions) {
        return run_optimised(ground, options);
    }
    runtime::shared(ground)?;
    let measured = place::look(ground, litellm::PACKAGE);
    // One thread, so that the client hands nothing over to itself.
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut samples = Samples::default();
    let without_litellm = tokio.block_on(measure(ground, &options.amount(), &mut samples))?;

    let command = format!("cargo xtask bench gate{}", if options.quick { " --quick" } else { "" });
    let report = Report { command, measured, samples, without_litellm };
    let text = report.as_text();
    say(&text);
    let out = ground.target.join("bench-gate.json");
    write(&out, &report.as_json()?)?;
    say(&format!("\nraw samples: {}", out.display()));
    if options.record {
        record::put(&ground.root.join("BENCHMARKS.md"), "gate", &text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Gives the reason why LiteLLM was not measured.
async fn measure(ground: &Ground, amount: &Amount, samples: &mut Samples) -> Result<Option<String>> {
    let stage = Stage::set(ground).await?;
    samples.add("gate_idle_mib", stage.gate.memory_mib("VmRSS")?);
    // Once for the caches, not counted.
    round(&stage, 0).await?;
    for number in 0..amount.rounds {
        let round = round(&stage, number).await?;
        let own = loops::own(&round);
        own.into_iter().for_each(|own| samples.add("code_own_ms", own));
        round.keep(own, samples);
        if (number + 1) % 5 == 0 {
            say(&format!("round {} of {}", number + 1, amount.rounds));
        }
    }
    rate::measure(&stage, amount.requests, samples).await?;
    crowd::gate(&stage, amount.loops_again, samples).await?;
    crowd::litellm(&stage, samples).await?;
    Ok(stage.litellm.err())
}

async fn round(stage: &Stage, number: usize) -> Result<Round> {
    let mut round = Round::new(number);
    passing::whole(stage, &mut round).await?;
    passing::streams(stage, &mut round).await?;
    loops::measure(stage, &mut round).await?;
    Ok(round)
}

/// This program again, built as what it measures is built.
fn run_optimised(ground: &Ground, options: Options) -> Result<ExitCode> {
    let mut command =
        ground.cargo(&["run", "--quiet", "--release", "--package", "xtask", "--", "bench", "gate"]);
    let flags = [("--quick", options.quick), ("--record", options.record)];
    command.args(flags.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag));
    must(command)?;
    Ok(ExitCode::SUCCESS)
}
