//! `cargo xtask bench gate`: what the gate adds to a model's answers, beside LiteLLM, round by round.

mod answers;
mod bars;
mod bodies;
pub(super) mod client;
mod crowd;
mod litellm;
mod loops;
mod mock;
mod passing;
mod rate;
mod report;
mod round;
pub(super) mod server;
mod subjects;

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use super::finding::{Finding, optimised};
use super::place;
use super::samples::Samples;
use crate::ground::Ground;
use crate::runtime;
use crate::say::say;
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
    fn arguments(self) -> &'static str {
        if self.quick { "--quick" } else { "" }
    }

    fn amount(self) -> Amount {
        if self.quick {
            Amount { rounds: 5, loops_again: 2, requests: 1000 }
        } else {
            Amount { rounds: 30, loops_again: 10, requests: 4000 }
        }
    }
}

pub(crate) fn run(ground: &Ground, options: Options) -> Result<ExitCode> {
    let arguments = options.arguments();
    if let Some(done) = optimised(ground, "gate", arguments, options.record)? {
        return Ok(done);
    }
    runtime::shared(ground)?;
    let measured = place::measured(ground, litellm::PACKAGE);
    // One thread, so that the client hands nothing over to itself.
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut samples = Samples::default();
    let without_litellm = tokio.block_on(measure(ground, &options.amount(), &mut samples))?;

    let without = without_litellm.map(|reason| format!("LiteLLM is not in the tables: {reason}."));
    let tables = without.into_iter().chain([report::times(&samples), report::others(&samples)]).collect();
    let (bars, arguments) = (bars::bars(&samples), arguments.to_owned());
    Finding { name: "gate", arguments, measured, tables, bars, samples }.publish(ground, options.record)
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
