//! `sandgate doctor`: what this machine gives, tried out, and how to get what is missing.

use std::fmt::Write as _;
use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use sandgate_engine::doctor::{self, Check, State};
use serde_json::{Value, json};

use crate::cli::DoctorArgs;
use crate::commands::{helper, limits_by};
use crate::home;
use crate::progress::StartProgress;
use crate::session::runtime;

pub(crate) fn doctor(args: &DoctorArgs) -> Result<ExitCode> {
    let home = home::open()?;
    let progress = StartProgress::new(/* always */ false);
    let program = helper()?;
    let checks = doctor::run(&home, &program, limits_by()?, &progress);
    let checks = runtime()?.block_on(Box::pin(checks));
    let healthy = checks.iter().all(|check| check.state != State::Missing);
    let report = if args.json { as_json(&checks, healthy) } else { as_table(&checks, healthy) };
    match std::io::stdout().lock().write_all(report.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => return Err(error.into()),
        _ => {}
    }
    Ok(if healthy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn word(state: State) -> &'static str {
    match state {
        State::On => "on",
        State::Off => "off",
        State::Missing => "missing",
    }
}

fn as_json(checks: &[Check], healthy: bool) -> String {
    let rows: Vec<Value> = checks
        .iter()
        .map(|check| {
            json!({
                "group": check.group,
                "name": check.name,
                "state": word(check.state),
                "detail": check.detail,
                "remedy": check.remedy,
            })
        })
        .collect();
    format!("{:#}\n", json!({"ok": healthy, "checks": rows}))
}

fn as_table(checks: &[Check], healthy: bool) -> String {
    let width = checks.iter().map(|check| check.name.chars().count()).max().unwrap_or_default();
    let mut table = String::new();
    let mut group = "";
    for check in checks {
        let Check { name, state, detail, .. } = check;
        if group != check.group {
            let gap = if group.is_empty() { "" } else { "\n" };
            group = check.group;
            let _ = writeln!(table, "{gap}{group}");
        }
        let _ = writeln!(table, "{}", format!("  {:<7}  {name:<width$}  {detail}", word(*state)).trim_end());
        if let (Some(remedy), State::Off | State::Missing) = (&check.remedy, state) {
            let _ = writeln!(table, "  {:<7}  {:<width$}  to turn it on: {remedy}", "", "");
        }
    }
    let missing = checks.iter().filter(|check| check.state == State::Missing).count();
    let verdict = if healthy { "everything required is on".to_owned() } else { format!("{missing} missing") };
    let _ = writeln!(table, "\n{verdict}");
    table
}

#[cfg(test)]
#[path = "doctor_tests.rs"]
mod tests;
