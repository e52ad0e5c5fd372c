//! `cargo xtask test`: the stages one after the other, each with its time, and one line for CI at the end.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::counts::Counts;
use crate::ground::Ground;
use crate::say::say;
use crate::stages::{STAGES, Stage};
use crate::tree::Changes;

pub(crate) fn run(ground: &Ground, only: &[String]) -> Result<ExitCode> {
    let before = Changes::now(&ground.root);
    let wanted = |stage: &&Stage| only.is_empty() || only.iter().any(|name| name == stage.name);
    let mut counts = Counts::default();
    let mut times = Vec::new();
    let begun = Instant::now();
    for stage in STAGES.iter().filter(wanted) {
        say(&format!("\n=== {}: {}", stage.name, stage.about));
        let stage_begun = Instant::now();
        let outcome = (stage.run)(ground, before.as_ref());
        let took = stage_begun.elapsed();
        times.push((stage.name, took));
        match outcome {
            Ok(counted) => counts += counted,
            Err(failure) => {
                let mut counted = failure.counts;
                if counted.failed == 0 {
                    counted += Counts::ONE_FAILED;
                }
                counts += counted;
                report(&times, begun.elapsed());
                say(&format!("stage '{}' failed: {:#}", stage.name, failure.error));
                say(&format!("run it alone with: cargo xtask test --only {}", stage.name));
                say(&counts.to_string());
                return Ok(ExitCode::FAILURE);
            }
        }
        say(&format!("=== {}: ok, {}", stage.name, seconds(took)));
    }
    report(&times, begun.elapsed());
    say(&counts.to_string());
    Ok(ExitCode::SUCCESS)
}

fn report(times: &[(&str, Duration)], total: Duration) {
    say("");
    for (name, took) in times {
        say(&format!("{name:>10} {:>9}", seconds(*took)));
    }
    say(&format!("{:>10} {:>9}", "together", seconds(total)));
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
