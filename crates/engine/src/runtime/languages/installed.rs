//! What is there: the mark of a whole runtime, its version and size.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Edition, LANGUAGES_FOLDER, Tool, sources};
use crate::runtime::{RuntimeError, files};

pub(super) const MARK: &str = "ready.json";
/// A mark is a few lines; it is read whenever a context is made.
const MAX_MARK: u64 = 4096;

/// Written last, inside the folder, before the folder gets its name.
#[derive(Debug, Serialize, Deserialize)]
struct Mark {
    tool: String,
    version: String,
    made_by: String,
    seconds: u64,
}

/// A runtime that is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    pub version: String,
}

/// How a runtime stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    Ready(Installed),
    /// Made by another version of this program, whose driver is another; to be added again.
    Outdated,
    /// Something has its name and is no whole runtime.
    Broken,
    Missing,
}

/// Looks without changing anything. `runtimes` is the folder of all runtimes, Python's included.
#[must_use]
pub fn state(runtimes: &Path, edition: impl Into<Edition>) -> State {
    let edition = edition.into();
    let folder = folder(runtimes, edition);
    if folder.symlink_metadata().is_err() {
        return State::Missing;
    }
    let mut text = String::new();
    let read = File::open(folder.join(MARK)).and_then(|file| file.take(MAX_MARK).read_to_string(&mut text));
    match (read, serde_json::from_str::<Mark>(&text)) {
        (Ok(_), Ok(mark)) if mark.tool != edition.name() => State::Broken,
        (Ok(_), Ok(mark)) if mark.made_by != sources::digest(edition) => State::Outdated,
        (Ok(_), Ok(mark)) => State::Ready(Installed { version: mark.version }),
        _ => State::Broken,
    }
}

/// Those of a tool that are ready, the chosen one first and then the newest.
pub fn ready(runtimes: &Path, tool: Tool) -> impl Iterator<Item = (Edition, Installed)> {
    Edition::of(tool).filter_map(|edition| match state(runtimes, edition) {
        State::Ready(installed) => Some((edition, installed)),
        State::Outdated | State::Broken | State::Missing => None,
    })
}

pub(super) fn folder(runtimes: &Path, edition: Edition) -> PathBuf {
    runtimes.join(LANGUAGES_FOLDER).join(edition.name())
}

/// Whether `version` is what was asked for: `17` and `17.0` mean 17.0.13, and `v22` is a way to write 22.
#[must_use]
pub fn version_of(version: &str, wanted: &str) -> bool {
    let wanted = wanted.trim();
    let wanted = wanted.strip_prefix("go").unwrap_or(wanted);
    let wanted = wanted.strip_prefix('v').unwrap_or(wanted);
    version == wanted || version.strip_prefix(wanted).is_some_and(|rest| rest.starts_with(['.', '+', '-']))
}

pub(super) fn mark(folder: &Path, edition: Edition, version: &str, seconds: u64) -> Result<(), RuntimeError> {
    let path = folder.join(MARK);
    let (tool, made_by) = (edition.name().to_owned(), sources::digest(edition));
    let mark = Mark { tool, version: version.to_owned(), made_by, seconds };
    let text =
        serde_json::to_vec_pretty(&mark).map_err(|error| RuntimeError::file("write", &path)(error.into()))?;
    fs::write(&path, text).map_err(RuntimeError::file("write", &path))
}

/// Bytes of all files of a runtime.
pub fn size(runtimes: &Path, edition: Edition) -> Result<u64, RuntimeError> {
    let mut bytes = 0;
    files::walk(&folder(runtimes, edition), &mut |path, kind| {
        if kind.is_file() {
            bytes += fs::symlink_metadata(path).map_err(RuntimeError::file("read", path))?.len();
        }
        Ok(())
    })?;
    Ok(bytes)
}

#[cfg(test)]
#[path = "installed_tests.rs"]
mod tests;
