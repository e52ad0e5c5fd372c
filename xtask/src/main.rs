//! `cargo xtask`: the work around the product. Everything tested from nothing, benchmarks, fuzzing.

#![forbid(unsafe_code)]

mod apt;
mod bench;
mod counts;
mod fuzz;
mod ground;
mod run;
mod runtime;
mod say;
mod sdk;
mod stages;
mod test;
mod tree;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use ground::Ground;
use say::say;

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "The work around the product", disable_version_flag = true)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Everything, from nothing: formatting, lints, tests from unit to end-to-end, documentation.
    Test {
        /// Only this stage; can be given several times, the order stays.
        #[arg(long, value_name = "STAGE", value_parser = stages::names())]
        only: Vec<String>,
    },
    /// Measures against peers, side by side.
    Bench {
        #[command(subcommand)]
        what: BenchTask,
    },
    /// Runs a fuzz target of the folder `fuzz` with libFuzzer.
    Fuzz {
        /// Its name, as in `fuzz/fuzz_targets`.
        target: String,
        #[arg(long, default_value_t = 30)]
        seconds: u64,
    },
}

#[derive(Debug, Subcommand)]
enum BenchTask {
    /// The embedded engine against ipykernel and bubblewrap: time to the first result, memory, density.
    Engine(bench::Options),
    /// The gate against the direct way and LiteLLM: what it adds to a request, a stream and a loop.
    Gate(bench::gate::Options),
    /// The E2B door through E2B's own SDK, against a server of the same protocol that does nothing.
    E2b(bench::e2b::Options),
    /// Every language beside its plain tool: time to the first result, and warm.
    Languages(bench::languages::Options),
    /// Sandboxes that others run: through the gate, beside the same provider without it.
    Backends(bench::backends::Options),
    /// The way out of a sandbox beside a direct connection: speed, and time to a new connection.
    Network(bench::network::Options),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = Ground::find().and_then(|ground| match cli.task {
        Task::Test { only } => test::run(&ground, &only),
        Task::Bench { what: BenchTask::Engine(options) } => bench::run(&ground, &options),
        Task::Bench { what: BenchTask::Gate(options) } => bench::gate::run(&ground, options),
        Task::Bench { what: BenchTask::E2b(options) } => bench::e2b::run(&ground, options),
        Task::Bench { what: BenchTask::Languages(options) } => bench::languages::run(&ground, options),
        Task::Bench { what: BenchTask::Backends(options) } => bench::backends::run(&ground, options),
        Task::Bench { what: BenchTask::Network(options) } => bench::network::run(&ground, &options),
        Task::Fuzz { target, seconds } => fuzz::run(&ground, &target, seconds),
    });
    done.unwrap_or_else(|error| {
        say(&format!("xtask: {error:#}"));
        ExitCode::FAILURE
    })
}
