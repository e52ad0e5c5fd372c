//! What can be wrong with a configuration, always with the place and the key.

use std::path::{Path, PathBuf};

use super::key_path::KeyPath;
use super::places::{Place, Places};

#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    #[error("cannot read the configuration file {file}: {cause}", file = file.display())]
    Unreadable { file: PathBuf, cause: std::io::Error },
    #[error("{file}:{line}:{column}: {message}", file = file.display())]
    At { file: PathBuf, line: u64, column: u64, message: String },
    /// There is no file: it is an option or the environment.
    #[error("{}", .0.message)]
    Nowhere(Problem),
}

/// Something wrong with one key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// None: it is not in the file.
    pub(crate) path: Option<KeyPath>,
    pub(crate) message: String,
}

impl Problem {
    pub(crate) fn at(path: KeyPath, message: impl Into<String>) -> Self {
        Self { path: Some(path), message: message.into() }
    }

    pub(crate) fn elsewhere(message: impl Into<String>) -> Self {
        Self { path: None, message: message.into() }
    }
}

impl ConfigError {
    pub(crate) fn placed(file: &Path, places: &Places, problem: Problem) -> Self {
        let Some(path) = &problem.path else { return Self::Nowhere(problem) };
        let Place { line, column } = places.find(path);
        let message = format!("{path}: {}", problem.message);
        Self::At { file: file.to_owned(), line, column, message }
    }
}
