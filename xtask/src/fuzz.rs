//! Fuzz targets: built with coverage counters on the stable compiler, run with libFuzzer.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::apt;
use crate::ground::Ground;
use crate::run::{must, output, works};

/// What cargo-fuzz passes, without the sanitizers: those need a nightly compiler, and what is fuzzed here
/// has no unsafe code.
const COVERAGE: [&str; 8] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
    // One unit per crate, or counters of the others are dropped by the linker.
    "-Ccodegen-units=1",
];

/// Searches for inputs that break `target`.
pub(crate) fn run(ground: &Ground, target: &str, seconds: u64) -> Result<ExitCode> {
    let known = targets(ground)?;
    if !known.iter().any(|name| name == target) {
        bail!("there is no fuzz target '{target}'; there are: {}", known.join(", "));
    }
    let program = build(ground)?.join(target);
    let folder = ground.root.join("fuzz");
    let (corpus, artifacts) = (folder.join("corpus").join(target), folder.join("artifacts").join(target));
    std::fs::create_dir_all(&corpus)?;
    std::fs::create_dir_all(&artifacts)?;
    let mut command = Command::new(program);
    command
        .args([format!("-max_total_time={seconds}"), format!("-artifact_prefix={}/", artifacts.display())])
        .arg("-print_final_stats=1")
        // The first is where new inputs go.
        .args([corpus, seeds(ground, target)]);
    must(command).context("an input that breaks it is named above")?;
    Ok(ExitCode::SUCCESS)
}

/// Builds every target and runs it on the inputs that are kept with it.
pub(crate) fn replay(ground: &Ground) -> Result<()> {
    let programs = build(ground)?;
    for target in targets(ground)? {
        let mut command = Command::new(programs.join(&target));
        command.arg("-runs=0").arg(seeds(ground, &target));
        must(command)?;
    }
    Ok(())
}

fn targets(ground: &Ground) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(ground.root.join("fuzz/fuzz_targets"))? {
        let path = entry?.path();
        names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
    }
    names.sort();
    Ok(names)
}

fn seeds(ground: &Ground, target: &str) -> PathBuf {
    ground.root.join("fuzz/seeds").join(target)
}

/// Gives the folder of the programs.
fn build(ground: &Ground) -> Result<PathBuf> {
    if !works(Command::new("c++").arg("--version")) {
        apt::install(&["g++"], "libFuzzer")?;
    }
    let mut rustc = Command::new("rustc");
    rustc.arg("-vV").current_dir(&ground.root);
    let about = output(rustc)?;
    let host =
        about.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc does not name its host")?;
    let folder = ground.target.join("fuzz");
    // With a target named, build scripts and macros, which have no libFuzzer, get no counters.
    let arguments = ["build", "--release", "--bins", "--manifest-path", "fuzz/Cargo.toml", "--target", host];
    let mut command = ground.cargo(&arguments);
    command.env("CARGO_TARGET_DIR", &folder).env("CARGO_ENCODED_RUSTFLAGS", COVERAGE.join("\x1f"));
    must(command)?;
    Ok(folder.join(host).join("release"))
}
