//! `sandgate runtime`: the languages beside Python, added, listed and removed.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use sandgate_core::human_bytes;
use sandgate_engine::runtime::languages::{self, Edition, Language, NoSuchEdition, State, Tool};
use sandgate_engine::runtime::{RuntimeStatus, status};

use crate::bad_input::BadInput;
use crate::cli::RuntimeCommand;
use crate::home;
use crate::progress::StartProgress;

pub(crate) fn runtime(command: &RuntimeCommand) -> Result<ExitCode> {
    let runtimes = home::open()?.join("runtimes");
    let said = match command {
        RuntimeCommand::Add { names } => add(&runtimes, &editions(names)?)?,
        RuntimeCommand::List => list(&runtimes)?,
        RuntimeCommand::Remove { names } => remove(&runtimes, &editions(names)?)?,
    };
    match std::io::stdout().lock().write_all(said.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// All names are looked at before anything is done.
fn editions(names: &[String]) -> Result<Vec<Edition>> {
    let mut editions = Vec::new();
    for name in names {
        match Edition::parse(name) {
            Ok(edition) if editions.contains(&edition) => {}
            Ok(edition) => editions.push(edition),
            Err(error) => return Err(BadInput::error(no_such(name, &error))),
        }
    }
    Ok(editions)
}

fn no_such(name: &str, error: &NoSuchEdition) -> String {
    let plain = name.split_once('@').map_or(name, |(plain, _)| plain);
    match (error, Language::parse(plain)) {
        (NoSuchEdition::Tool(_), Some(language)) if plain == name => {
            format!("{} is always there", language.title())
        }
        (NoSuchEdition::Tool(_), Some(language)) => {
            format!("{} is there in one version, that of this machine", language.title())
        }
        (NoSuchEdition::Tool(_), None) => {
            let known: Vec<&str> = Tool::ALL.iter().map(|tool| tool.name()).collect();
            format!("{error}; there is: {}", known.join(", "))
        }
        (NoSuchEdition::Version { .. }, _) => error.to_string(),
    }
}

fn add(runtimes: &Path, editions: &[Edition]) -> Result<String> {
    let mut said = String::new();
    for edition in editions {
        let progress = StartProgress::new(/* always */ true);
        let version = languages::add(runtimes, *edition, &progress)?;
        let _ = writeln!(said, "{} {version}: {}", edition.tool.title(), use_of(*edition));
    }
    Ok(said)
}

fn use_of(edition: Edition) -> String {
    let languages = named(edition.tool);
    let variable = edition.tool.languages().find_map(Language::version_variable);
    match (edition.line(), variable) {
        (Some(line), Some(variable)) => {
            format!("{languages} can be run by it where {variable}={line} is set")
        }
        _ => format!("{languages} can be run"),
    }
}

fn remove(runtimes: &Path, editions: &[Edition]) -> Result<String> {
    let mut said = String::new();
    for edition in editions {
        let progress = StartProgress::new(/* always */ true);
        let word =
            if languages::remove(runtimes, *edition, &progress)? { "is removed" } else { "was not there" };
        let _ = writeln!(said, "{} {word}", edition.title());
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
    for edition in Tool::ALL.into_iter().flat_map(Edition::of) {
        let found = match languages::state(runtimes, edition) {
            State::Ready(ready) => {
                [ready.version, human_bytes(languages::size(runtimes, edition)?), "ready".to_owned()]
            }
            // Of other versions, those that are there are enough to tell.
            State::Missing if edition.line().is_some() => continue,
            State::Missing => [String::new(), String::new(), format!("sandgate runtime add {edition}")],
            State::Outdated => missing(edition, "of another version of sandgate"),
            State::Broken => missing(edition, "not whole"),
        };
        rows.push(row(edition.name(), &named(edition.tool), found));
    }
    Ok(table(&rows))
}

fn missing(edition: Edition, why: &str) -> [String; 3] {
    [String::new(), String::new(), format!("{why}: sandgate runtime add {edition}")]
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
