//! `sandgate doctor`: what this machine gives, tried out, and how to get what is missing.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use sandgate_backends::FleetCheck;
use sandgate_core::{BackendCheck, CheckBackends, SandboxSpec};
use sandgate_engine::doctor::{self, Check, State};
use serde_json::{Value, json};

use crate::cli::DoctorArgs;
use crate::commands::{fleet, helper, limits_by};
use crate::config::Settings;
use crate::home;
use crate::progress::StartProgress;
use crate::session::runtime;

pub(crate) fn doctor(args: &DoctorArgs) -> Result<ExitCode> {
    let home = home::open()?;
    let progress = StartProgress::new(/* always */ false);
    let program = helper()?;
    let settings = args.config.as_deref().map(Settings::load_file).transpose()?;
    let needs_engine = settings.as_ref().is_none_or(|settings| settings.backends.embedded);
    let limits_by = limits_by()?;
    let checks = async {
        let mut checks = Vec::new();
        if needs_engine {
            checks.extend(doctor::run(&home, &program, limits_by, &progress).await);
        }
        if let Some(settings) = &settings {
            checks.extend(remote_checks(&home, settings).await?);
        }
        Ok::<_, anyhow::Error>(checks)
    };
    let checks = runtime()?.block_on(Box::pin(checks))?;
    let healthy = checks.iter().all(|check| check.state != State::Missing);
    let report = if args.json { as_json(&checks, healthy) } else { as_table(&checks, healthy) };
    match std::io::stdout().lock().write_all(report.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => return Err(error.into()),
        _ => {}
    }
    Ok(if healthy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A real execution on each backend that others run.
async fn remote_checks(home: &Path, settings: &Settings) -> Result<Vec<Check>> {
    // Under a name of its own: a server that runs beside it knows nothing of its sandboxes, and would remove them.
    let fleet = Arc::new(fleet(&home.join("doctor"), &settings.backends, None).await?);
    let spec = SandboxSpec { limits: settings.limits.clone(), ..SandboxSpec::default() };
    let checked = FleetCheck { fleet, spec }.check_all().await;
    Ok(checked.into_iter().map(remote_check).collect())
}

fn remote_check(checked: BackendCheck) -> Check {
    let BackendCheck { name, kind, took, problem, .. } = checked;
    let (state, detail, remedy) = match problem {
        None => (State::On, format!("{kind}: ran code in {:.1} s", took.as_secs_f64()), None),
        Some(problem) => {
            let remedy = "see 'backends' in the configuration: its address, its key, its template or image";
            (State::Missing, format!("{kind}: {problem}"), Some(remedy.to_owned()))
        }
    };
    Check { group: "backends", name: name.into(), state, detail, remedy }
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
