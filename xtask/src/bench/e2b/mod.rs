//! `cargo xtask bench e2b`: what the E2B door adds to E2B's own SDK, beside a stub of the same protocol that
//! does nothing, round by round.

mod report;
mod rounds;
mod stub;

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use super::finding::{Finding, optimised};
use super::gate::server;
use super::place;
use super::samples::Samples;
use crate::ground::Ground;
use crate::run::output;
use crate::say::say;
use crate::{runtime, sdk};

const SDK: &str = "the Python SDK of tests/sdk/e2b_python/current.lock";

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
    if let Some(done) = optimised(ground, "e2b", arguments, options.record)? {
        return Ok(done);
    }
    let runtime = runtime::shared(ground)?;
    let driver = sdk::e2b::current_python(ground, &runtime)?;
    let measured = place::measured(ground, SDK);
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut samples = Samples::default();
    tokio.block_on(measure(ground, driver, options.rounds(), &mut samples))?;

    let finding = Finding {
        name: "e2b",
        arguments: arguments.to_owned(),
        measured,
        tables: vec![report::times(&samples)],
        bars: report::bars(&samples),
        samples,
    };
    finding.publish(ground, options.record)
}

/// The driver is a process of its own, as a user's program is.
async fn measure(
    ground: &Ground,
    mut driver: std::process::Command,
    rounds: usize,
    samples: &mut Samples,
) -> Result<()> {
    let stub = stub::start()?;
    say("starting the server");
    let sandgate = server::sandgate(ground, "bench-e2b", "pool: 4\n").await?;
    say(&format!("{rounds} rounds"));
    driver.arg(ground.root.join("xtask/src/bench/e2b/driver.py")).arg(rounds.to_string());
    driver.args([rounds::STUB, &format!("http://{stub}/e2b")]);
    driver.args([rounds::SANDGATE, &format!("http://{}/e2b", sandgate.address)]);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("E2B_")) {
        driver.env_remove(name);
    }
    driver.env("E2B_API_KEY", "e2b_bench").env("PYTHONDONTWRITEBYTECODE", "1");
    rounds::keep(&output(driver)?, samples)
}
