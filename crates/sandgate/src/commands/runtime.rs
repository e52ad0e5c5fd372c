//! `sandgate runtime`: the languages beside Python, added, listed and removed.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use sandgate_core::human_bytes;
use sandgate_engine::runtime::languages::{self, Language, State, Tool};
use sandgate_engine::runtime::{RuntimeStatus, status};

use crate::bad_input::BadInput;
use crate::cli::RuntimeCommand;
use crate::home;
use crate::progress::StartProgress;

pub(crate) fn runtime(command: &RuntimeCommand) -> Result<ExitCode> {
    let runtimes = home::open()?.join("runtimes");
    let said = match command {
        RuntimeCommand::Add { names } => add(&runtimes, &tools(names)?)?,
        RuntimeCommand::List => list(&runtimes)?,
        RuntimeCommand::Remove { names } => remove(&runtimes, &tools(names)?)?,
    };
    match std::io::stdout().lock().write_all(said.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// All names are looked at before anything is done.
fn tools(names: &[String]) -> Result<Vec<Tool>> {
    let mut tools = Vec::new();
    for name in names {
        match (Tool::parse(name), Language::parse(name)) {
            (Some(tool), _) if tools.contains(&tool) => {}
            (Some(tool), _) => tools.push(tool),
            (None, Some(language)) => {
                return Err(BadInput::error(format!("{} is always there", language.title())));
            }
            (None, None) => {
                let known: Vec<&str> = Tool::ALL.iter().map(|tool| tool.name()).collect();
                return Err(BadInput::error(format!(
                    "there is no runtime '{name}'; there is: {}",
                    known.join(", ")
                )));
            }
        }
    }
    Ok(tools)
}

fn add(runtimes: &Path, tools: &[Tool]) -> Result<String> {
    let mut said = String::new();
    for tool in tools {
        let progress = StartProgress::new(/* always */ true);
        let version = languages::add(runtimes, *tool, &progress)?;
        let _ = writeln!(said, "{} {version}: {} can be run", tool.title(), named(*tool));
    }
    Ok(said)
}

fn remove(runtimes: &Path, tools: &[Tool]) -> Result<String> {
    let mut said = String::new();
    for tool in tools {
        let progress = StartProgress::new(/* always */ true);
        let word =
            if languages::remove(runtimes, *tool, &progress)? { "is removed" } else { "was not there" };
        let _ = writeln!(said, "{} {word}", tool.title());
    }
    Ok(said)
}

fn named(tool: Tool) -> String {
    let names: Vec<&str> = tool.languages().map(Language::title).collect();
    names.join(" and ")
}

fn list(runtimes: &Path) -> Result<String> {
    let python = match status(runtimes) {
        RuntimeStatus::Ready(runtime) => [runtime.version, String::new(), "ready".to_owned()],
        RuntimeStatus::NotPrepared { candidate, .. } | RuntimeStatus::Broken { candidate, .. } => {
            [candidate.version, String::new(), "made at the first start".to_owned()]
        }
        RuntimeStatus::NoInterpreter(error) => [String::new(), String::new(), error.to_string()],
    };
    let mut rows = vec![
        ["runtime", "languages", "version", "size", "state"].map(str::to_owned),
        row("python", "Python", python),
        row("bash", "Bash", [String::new(), String::new(), "ready".to_owned()]),
    ];
    for tool in Tool::ALL {
        let found = match languages::state(runtimes, tool) {
            State::Ready(ready) => {
                [ready.version, human_bytes(languages::size(runtimes, tool)?), "ready".to_owned()]
            }
            State::Missing => [String::new(), String::new(), format!("sandgate runtime add {tool}")],
            State::Outdated => missing(tool, "of another version of sandgate"),
            State::Broken => missing(tool, "not whole"),
        };
        rows.push(row(tool.name(), &named(tool), found));
    }
    Ok(table(&rows))
}

fn missing(tool: Tool, why: &str) -> [String; 3] {
    [String::new(), String::new(), format!("{why}: sandgate runtime add {tool}")]
}

fn row(name: &str, languages: &str, [version, size, state]: [String; 3]) -> [String; 5] {
    [name.to_owned(), languages.to_owned(), version, size, state]
}

fn table(rows: &[[String; 5]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..5).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let _ = writeln!(text, "{}", cells.join("  ").trim_end());
    }
    text
}

#[cfg(test)]
#[path = "runtime_tests.rs"]
mod tests;
