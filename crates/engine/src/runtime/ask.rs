//! What one interpreter says about itself, and whether it can be the base of a runtime.

use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::process;

const SCRIPT: &str = include_str!("ask.py");
const PATIENCE: Duration = Duration::from_secs(20);

/// The versions that the locked packages have wheels for.
const OLDEST: [u32; 2] = [3, 11];
const NEWEST: [u32; 2] = [3, 14];

/// A sandbox has its own of these, or of what is in them; an interpreter there could not be shown at its own path.
const OWN_TREES: [&str; 7] = ["/tmp", "/proc", "/sys", "/dev", "/run", "/mnt/data", super::VENV_INSIDE];
/// Showing one of these whole would show the host.
const TOO_MUCH: [&str; 8] = ["/", "/etc", "/home", "/root", "/var", "/opt", "/mnt", "/srv"];

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Answer {
    version: [u32; 3],
    prerelease: bool,
    implementation: String,
    pub(super) interpreter: PathBuf,
    pub(super) base_prefix: PathBuf,
    config_args: String,
    cflags: String,
    debug: bool,
    free_threaded: bool,
    missing: Vec<String>,
    mapped: Vec<PathBuf>,
}

/// Why an interpreter is passed over. Reads after "it".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unsuitable {
    Version(String),
    NotCPython(String),
    ModulesMissing(Vec<String>),
    CannotBeShown(String),
    DoesNotRun(String),
}

impl fmt::Display for Unsuitable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([old, older], [new, newer]) = (OLDEST, NEWEST);
        match self {
            Self::Version(version) => {
                write!(f, "is version {version}, and {old}.{older} to {new}.{newer} is needed")
            }
            Self::NotCPython(what) => write!(f, "is {what}, and ordinary CPython is needed"),
            Self::ModulesMissing(names) => write!(f, "lacks its module {}", names.join(" and its module ")),
            Self::CannotBeShown(why) => write!(f, "cannot be shown inside a sandbox, because {why}"),
            Self::DoesNotRun(said) => write!(f, "does not run ({said})"),
        }
    }
}

impl Unsuitable {
    pub(super) fn advice(&self) -> &'static str {
        match self {
            Self::ModulesMissing(_) => "install its venv part (Debian: apt-get install python3-venv)",
            Self::CannotBeShown(_) => {
                "install the distribution's python3 and python3-venv (Debian: apt-get install python3 python3-venv)"
            }
            Self::Version(_) | Self::NotCPython(_) | Self::DoesNotRun(_) => {
                "install Python 3.11 or newer with its venv part, or name one with SANDGATE_PYTHON=/path/to/python3"
            }
        }
    }
}

/// Runs the interpreter once. What answers may be a shim; the answer names the interpreter behind it.
pub(super) fn ask(python: &Path) -> Result<Answer, Unsuitable> {
    let mut command = process::python(python);
    command.args(["-c", SCRIPT]);
    let output = process::ask(command, PATIENCE).map_err(|e| Unsuitable::DoesNotRun(e.to_string()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Unsuitable::DoesNotRun(process::last_line(said.lines()).to_owned()));
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|_| Unsuitable::DoesNotRun("its answer is not Python's".to_owned()))
}

impl Answer {
    pub(super) fn version(&self) -> String {
        let [major, minor, micro] = self.version;
        format!("{major}.{minor}.{micro}")
    }

    pub(super) fn is_distributions(&self) -> bool {
        self.base_prefix == Path::new("/usr")
    }

    /// Built with profile or link-time optimisation. Distributions build theirs so and then take the traces out of
    /// the recorded settings (Debian's names neither), so of theirs only the compiler's level is asked.
    pub(super) fn is_optimised(&self) -> bool {
        let asked_for = self.config_args.contains("--enable-optimizations");
        let flags = |wanted: &[&str]| self.cflags.split_whitespace().any(|flag| wanted.contains(&flag));
        !self.debug
            && (asked_for
                || flags(&["-fprofile-use", "-flto", "-flto=thin", "-flto=auto"])
                || (self.is_distributions() && flags(&["-O2", "-O3"])))
    }

    pub(super) fn suitable(&self) -> Result<(), Unsuitable> {
        let [major, minor, _] = self.version;
        if [major, minor] < OLDEST || [major, minor] > NEWEST {
            return Err(Unsuitable::Version(self.version()));
        }
        if self.prerelease {
            return Err(Unsuitable::Version(format!("{} before its release", self.version())));
        }
        if self.implementation != "cpython" {
            return Err(Unsuitable::NotCPython(self.implementation.clone()));
        }
        if self.free_threaded {
            return Err(Unsuitable::NotCPython("a free-threaded build".to_owned()));
        }
        if !self.missing.is_empty() {
            return Err(Unsuitable::ModulesMissing(self.missing.clone()));
        }
        self.can_be_shown().map_err(Unsuitable::CannotBeShown)
    }

    /// Its folder is mounted read-only at its own path beside the system's libraries; whatever the interpreter
    /// needs must be in there, and readable by the sandbox's user.
    fn can_be_shown(&self) -> Result<(), String> {
        let base = &self.base_prefix;
        if TOO_MUCH.iter().any(|folder| base == Path::new(folder)) {
            return Err(format!("its folder {} holds more than Python", base.display()));
        }
        if let Some(own) = OWN_TREES.iter().find(|tree| base.starts_with(tree)) {
            return Err(format!(
                "its folder {} is under {own}, of which a sandbox has its own",
                base.display()
            ));
        }
        let shown = |file: &Path| {
            file.starts_with(base) || ["/usr", "/lib", "/lib64"].iter().any(|system| file.starts_with(system))
        };
        if let Some(far) = self.mapped.iter().find(|file| file.extension().is_some() && !shown(file)) {
            return Err(format!("it needs {} outside of its folder {}", far.display(), base.display()));
        }
        if !shown(&self.interpreter) {
            return Err(format!(
                "{} is outside of its folder {}",
                self.interpreter.display(),
                base.display()
            ));
        }
        for (path, needed) in [(base, 0o005), (&self.interpreter, 0o001)] {
            let mode =
                std::fs::metadata(path).map_err(|e| format!("{} is not there: {e}", path.display()))?;
            if mode.permissions().mode() & needed != needed {
                return Err(format!("{} is closed to other users", path.display()));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "ask_tests.rs"]
mod tests;
