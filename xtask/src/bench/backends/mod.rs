//! `cargo xtask bench backends`: what the gate adds to a provider of sandboxes, beside the same provider used without
//! a gate, round by round. The provider is a second server, over the network of this machine.

mod direct;
mod rounds;

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;

use super::finding::{Finding, optimised};
use super::gate::server;
use super::samples::Samples;
use super::{pairs, place};
use crate::ground::Ground;
use crate::runtime;
use crate::say::say;
use rounds::{BARS, STEPS, WAYS};

/// The account at the provider.
const ACCOUNT: &str = "e2b_bench";

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Options {
    /// Fewer rounds: whether it works, not how fast it is.
    #[arg(long)]
    quick: bool,
    /// Put the tables into BENCHMARKS.md.
    #[arg(long)]
    record: bool,
}

impl Options {
    fn arguments(self) -> &'static str {
        if self.quick { "--quick" } else { "" }
    }

    fn rounds(self) -> usize {
        if self.quick { 3 } else { 40 }
    }
}

pub(crate) fn run(ground: &Ground, options: Options) -> Result<ExitCode> {
    let arguments = options.arguments();
    if let Some(done) = optimised(ground, "backends", arguments, options.record)? {
        return Ok(done);
    }
    runtime::shared(ground)?;
    let measured = place::measured(ground, "a second server of the same build as the provider");
    // One thread, so that the client hands nothing over to itself.
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut samples = Samples::default();
    tokio.block_on(measure(ground, options.rounds(), &mut samples))?;
    let finding = Finding {
        name: "backends",
        arguments: arguments.to_owned(),
        measured,
        tables: vec![pairs::times(&samples, WAYS, &STEPS)],
        bars: pairs::bars(&samples, &BARS),
        samples,
    };
    finding.publish(ground, options.record)
}

async fn measure(ground: &Ground, rounds: usize, samples: &mut Samples) -> Result<()> {
    say("starting the provider");
    let far = server::sandgate(ground, "bench-backends-far", "pool: 6\n").await?;
    let at = far.address;
    say("starting the gate");
    let settings = format!(
        "embedded: false\nbackend: e2b\nbackends:\n  \
         e2b: {{type: e2b, url: 'http://{at}/e2b', sandbox_url: 'http://{at}/e2b', key: {ACCOUNT}}}\n  \
         opensandbox: {{type: opensandbox, url: 'http://{at}/v1', key: {ACCOUNT}}}\n"
    );
    let gate = server::sandgate(ground, "bench-backends", &settings).await?;
    // Once for the caches, not counted.
    rounds::round(at, gate.address, 0, &mut Samples::default()).await.context("the first round")?;
    for number in 0..rounds {
        rounds::round(at, gate.address, number, samples).await?;
        if (number + 1).is_multiple_of(10) {
            say(&format!("round {} of {rounds}", number + 1));
        }
    }
    Ok(())
}
