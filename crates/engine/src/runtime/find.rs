//! Which Python a runtime is built on: the distribution's optimised build before whatever is first on the PATH.

use std::env;
use std::path::{Path, PathBuf};

use super::RuntimeError;
use super::ask::{self, Answer, Unsuitable};

const OVERRIDE: &str = "SANDGATE_PYTHON";
const NAMES: [&str; 5] = ["python3", "python3.14", "python3.13", "python3.12", "python3.11"];

/// An interpreter that can be the base of a runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The base interpreter itself: no shim, no link, no virtual environment.
    pub interpreter: PathBuf,
    pub version: String,
    pub base_prefix: PathBuf,
    /// Built with profile or link-time optimisation, as distributions do.
    pub optimised: bool,
    /// One sentence: what was chosen and why.
    pub why: String,
}

/// Chooses the interpreter for this machine; starts each considered one for some milliseconds, changes nothing.
pub fn find_interpreter() -> Result<Candidate, RuntimeError> {
    find(&Search::this_machine())
}

/// Where to look, in order of preference.
pub(super) struct Search {
    pub(super) named: Option<PathBuf>,
    pub(super) distribution: Vec<PathBuf>,
    pub(super) on_path: Vec<PathBuf>,
}

impl Search {
    fn this_machine() -> Self {
        let path = env::var_os("PATH").unwrap_or_default();
        let folders: Vec<PathBuf> = env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
        let on_path =
            files(NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))));
        let named = env::var_os(OVERRIDE).filter(|value| !value.is_empty()).map(PathBuf::from);
        // A bare name is looked up on the PATH when it is run.
        let named = named.map(|value| match value.components().count() {
            1 => value,
            _ => std::path::absolute(&value).unwrap_or(value),
        });
        let distribution = files(NAMES.iter().map(|name| Path::new("/usr/bin").join(name)));
        Self { named, distribution, on_path }
    }
}

fn files(paths: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    paths.filter(|path| path.is_file()).collect()
}

pub(super) fn find(search: &Search) -> Result<Candidate, RuntimeError> {
    if let Some(path) = &search.named {
        return match consider(path) {
            Ok(answer) => Ok(candidate(answer, "it was named by SANDGATE_PYTHON")),
            Err(reason) => Err(RuntimeError::NamedUnsuitable {
                path: path.clone(),
                reason: format!("it {reason}"),
                advice: reason.advice(),
            }),
        };
    }

    let mut seen = Vec::new();
    let mut passed_over: Vec<(PathBuf, Unsuitable)> = Vec::new();
    let mut slower: Option<Answer> = None;
    for path in search.distribution.iter().chain(&search.on_path) {
        // Links to one interpreter are asked once; a shim cannot be told from a program before it ran.
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        if seen.contains(&real) {
            continue;
        }
        seen.push(real);
        match consider(path) {
            Ok(answer) if answer.is_optimised() => {
                let reason = match (answer.is_distributions(), passed_over.first(), &slower) {
                    (true, _, _) => "it is the distribution's optimised build".to_owned(),
                    (false, _, Some(slow)) => {
                        format!("it is an optimised build, and {} is not", slow.interpreter.display())
                    }
                    (false, Some((other, why)), None) => format!(
                        "it is the first suitable optimised build on the PATH ({} {why})",
                        other.display()
                    ),
                    (false, None, None) => "it is the first suitable optimised build on the PATH".to_owned(),
                };
                return Ok(candidate(answer, &reason));
            }
            Ok(answer) => {
                slower.get_or_insert(answer);
            }
            Err(reason) => passed_over.push((path.clone(), reason)),
        }
    }
    match slower {
        Some(answer) => Ok(candidate(answer, "no optimised build of a suitable version was found")),
        None => Err(nothing_found(&passed_over)),
    }
}

fn consider(path: &Path) -> Result<Answer, Unsuitable> {
    let answer = ask::ask(path)?;
    answer.suitable()?;
    Ok(answer)
}

fn candidate(answer: Answer, reason: &str) -> Candidate {
    let version = answer.version();
    let speed = if answer.is_optimised() { "" } else { ", a build without profile optimisation," };
    let why = format!("Python {version} at {}{speed} was chosen: {reason}", answer.interpreter.display());
    let optimised = answer.is_optimised();
    Candidate { interpreter: answer.interpreter, version, base_prefix: answer.base_prefix, optimised, why }
}

/// The nearest miss decides the advice: lacking a module is repaired faster than lacking a Python.
fn nothing_found(passed_over: &[(PathBuf, Unsuitable)]) -> RuntimeError {
    // Shims of versions that are not installed say nothing about the machine, unless there is nothing else.
    let real = |reason: &Unsuitable| !matches!(reason, Unsuitable::DoesNotRun(_));
    let any_real = passed_over.iter().any(|(_, reason)| real(reason));
    let tried: Vec<String> = passed_over
        .iter()
        .filter(|(_, reason)| real(reason) || !any_real)
        .map(|(path, reason)| format!("{} {reason}", path.display()))
        .collect();
    let nearest = passed_over.iter().min_by_key(|(_, reason)| match reason {
        Unsuitable::ModulesMissing(_) => 0,
        Unsuitable::CannotBeShown(_) => 1,
        Unsuitable::Version(_) | Unsuitable::NotCPython(_) => 2,
        Unsuitable::DoesNotRun(_) => 3,
    });
    match nearest {
        Some((_, reason)) => RuntimeError::NoneSuitable { tried: tried.join(", "), advice: reason.advice() },
        None => RuntimeError::NoPython,
    }
}

#[cfg(test)]
#[path = "find_tests.rs"]
mod tests;
