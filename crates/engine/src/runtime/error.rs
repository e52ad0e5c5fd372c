//! Why a runtime could not be prepared: each error is one sentence that names the part and what to do.

use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    #[error(
        "no python3 was found: install python3 and python3-venv (Debian: apt-get install python3 python3-venv)"
    )]
    NoPython,
    #[error("no python3 on this machine can be used: {tried}; {advice}")]
    NoneSuitable { tried: String, advice: &'static str },
    #[error("SANDGATE_PYTHON names {path}, which cannot be used: {reason}; {advice}", path = path.display())]
    NamedUnsuitable { path: PathBuf, reason: String, advice: &'static str },
    #[error("cannot {action} {path}: {cause}", path = path.display())]
    File { action: &'static str, path: PathBuf, cause: io::Error },
    #[error("cannot run {program}: {cause}", program = program.display())]
    Run { program: PathBuf, cause: io::Error },
    #[error(
        "python could not make a virtual environment: {said}; check that its venv module is whole \
         (Debian: apt-get install --reinstall python3-venv); the log is {log}", log = log.display()
    )]
    Venv { said: String, log: PathBuf },
    #[error("pip could not install the locked packages: {said}; {advice}; the log is {log}", log = log.display())]
    Pip { said: String, advice: &'static str, log: PathBuf },
    #[error("the installed packages could not be compiled to bytecode: {said}; the log is {log}", log = log.display())]
    Bytecode { said: String, log: PathBuf },
    #[error(
        "the packages were installed but do not work on this machine: {said}; \
         try another interpreter with SANDGATE_PYTHON=/path/to/python3; the log is {log}", log = log.display()
    )]
    Check { said: String, log: PathBuf },
    #[error("the runtime of {tool} cannot be added: could not {doing}: {said}; the log is {log}", log = log.display())]
    Language { tool: &'static str, doing: &'static str, said: String, log: PathBuf },
}

impl RuntimeError {
    /// For `map_err`: `fs::write(&path, …).map_err(RuntimeError::file("write", &path))`.
    pub(super) fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::File { action, path: path.to_path_buf(), cause }
    }

    /// The same error with its log at the place where it is kept.
    pub(super) fn with_log(mut self, kept: &Path) -> Self {
        match &mut self {
            Self::Venv { log, .. }
            | Self::Pip { log, .. }
            | Self::Bytecode { log, .. }
            | Self::Check { log, .. }
            | Self::Language { log, .. } => {
                *log = kept.to_path_buf();
            }
            Self::NoPython
            | Self::NoneSuitable { .. }
            | Self::NamedUnsuitable { .. }
            | Self::File { .. }
            | Self::Run { .. } => {}
        }
        self
    }
}
