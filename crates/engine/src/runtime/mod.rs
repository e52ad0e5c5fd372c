//! The Python runtime, prepared by the program itself on first start: the host's interpreter and a virtual
//! environment with the locked packages, which sandboxes see read-only at `/opt/venv`.
//!
//! Everything here blocks; asynchronous callers use `spawn_blocking`.

mod ask;
mod bytecode;
mod check;
mod error;
mod files;
mod find;
mod folder;
mod install;
pub mod languages;
mod pip_output;
mod process;
mod progress;
mod relocate;
mod startup;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub use error::RuntimeError;
pub use find::{Candidate, find_interpreter};
pub use progress::{Progress, Silent};

use folder::Found;
use install::Attempt;

/// Where sandboxes see [`PythonRuntime::venv`].
pub const VENV_INSIDE: &str = "/opt/venv";
const LOCK: &str = include_str!("../../../../runtimes/python/requirements.lock");

/// A runtime that is ready for sandboxes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonRuntime {
    /// The base interpreter on the host, no link; sandboxes see it at the same path.
    pub interpreter: PathBuf,
    pub version: String,
    /// To be shown read-only at its own path.
    pub base_prefix: PathBuf,
    /// The folder on the host that is mounted at [`VENV_INSIDE`].
    pub venv: PathBuf,
    pub optimised: bool,
    /// One sentence: what was chosen and why.
    pub why: String,
}

/// How things stand, for `sandgate doctor`.
#[derive(Debug)]
pub enum RuntimeStatus {
    Ready(PythonRuntime),
    /// The next start will prepare it, in this folder.
    NotPrepared {
        candidate: Candidate,
        folder: PathBuf,
    },
    /// The next start will prepare it anew; the reason reads after "the folder".
    Broken {
        candidate: Candidate,
        folder: PathBuf,
        reason: String,
    },
    /// Nothing can be prepared on this machine.
    NoInterpreter(RuntimeError),
}

/// Looks without changing anything.
pub fn status(runtimes_folder: &Path) -> RuntimeStatus {
    let candidate = match find_interpreter() {
        Ok(candidate) => candidate,
        Err(error) => return RuntimeStatus::NoInterpreter(error),
    };
    let folder = runtimes_folder.join(folder::name(&candidate, LOCK));
    match folder::look(&folder, &candidate) {
        Found::Ready(runtime) => RuntimeStatus::Ready(runtime),
        Found::Nothing => RuntimeStatus::NotPrepared { candidate, folder },
        Found::Broken(reason) => RuntimeStatus::Broken { candidate, folder, reason },
    }
}

/// Gives the runtime, and makes it first if this home has none for the interpreter and the locked packages.
pub fn prepare(runtimes_folder: &Path, progress: &dyn Progress) -> Result<PythonRuntime, RuntimeError> {
    prepare_from(&find_interpreter()?, LOCK, runtimes_folder, progress)
}

fn prepare_from(
    candidate: &Candidate,
    lock: &str,
    runtimes: &Path,
    progress: &dyn Progress,
) -> Result<PythonRuntime, RuntimeError> {
    let runtime = find_or_make(candidate, lock, runtimes, progress)?;
    startup::put_into(&runtime)?;
    Ok(runtime)
}

fn find_or_make(
    candidate: &Candidate,
    lock: &str,
    runtimes: &Path,
    progress: &dyn Progress,
) -> Result<PythonRuntime, RuntimeError> {
    // Commands run later from other folders, and links must not depend on the current one.
    let runtimes = &std::path::absolute(runtimes).map_err(RuntimeError::file("find", runtimes))?;
    let name = folder::name(candidate, lock);
    let folder = runtimes.join(&name);
    if let Found::Ready(runtime) = folder::look(&folder, candidate) {
        return Ok(runtime);
    }
    fs::create_dir_all(runtimes).map_err(RuntimeError::file("create", runtimes))?;
    let held = folder::lock(runtimes, progress)?;
    // Another process may have made it while this one waited.
    if let Found::Ready(runtime) = folder::look(&folder, candidate) {
        progress.finish(&format!("Python {} is ready, prepared by another process", candidate.version));
        return Ok(runtime);
    }
    folder::remove_leftovers(&held, runtimes)?;

    let begun = Instant::now();
    progress.stage(&format!("preparing the Python runtime, once: {}", candidate.why));
    let cache = runtimes.join(".pip-cache");
    let part = folder::part(runtimes, &name);
    let kept_log = runtimes.join(format!("{name}.failed.log"));
    let made = make(candidate, lock, &part, &cache, progress).and_then(|packages| {
        folder::mark_ready(&part, candidate, packages, begun.elapsed().as_secs())?;
        files::open_to_everyone(&part)?;
        folder::put_in_place(&held, &part, &folder)?;
        Ok(packages)
    });
    let packages = match made {
        Ok(packages) => packages,
        Err(error) => {
            // Downloads stay cached for the next try, the log stays to be read, half an environment does not stay.
            let log_is_kept = fs::rename(part.join("pip.log"), &kept_log).is_ok();
            let _ = fs::remove_dir_all(&part);
            return Err(if log_is_kept { error.with_log(&kept_log) } else { error });
        }
    };
    let _ = fs::remove_dir_all(&cache);
    let _ = fs::remove_file(&kept_log);
    match folder::look(&folder, candidate) {
        Found::Ready(runtime) => {
            let seconds = begun.elapsed().as_secs();
            progress.finish(&format!(
                "Python {} with {packages} packages is ready ({seconds} s)",
                candidate.version
            ));
            Ok(runtime)
        }
        Found::Nothing | Found::Broken(_) => {
            let lost = std::io::Error::other("it was changed while it was put in place");
            Err(RuntimeError::file("use", &folder)(lost))
        }
    }
}

/// Gives the number of packages. The order matters: bytecode after every source is in its place, the check with the
/// bytecode of the inside.
fn make(
    candidate: &Candidate,
    lock: &str,
    part: &Path,
    cache: &Path,
    progress: &dyn Progress,
) -> Result<u64, RuntimeError> {
    let mut attempt = Attempt::begin(candidate, part.to_path_buf(), progress)?;
    attempt.make_venv()?;
    let packages = attempt.install_packages(lock, cache)?;
    attempt.compile()?;
    attempt.relocate()?;
    attempt.check()?;
    let temporary = attempt.temporary();
    fs::remove_dir_all(&temporary).map_err(RuntimeError::file("remove", &temporary))?;
    Ok(packages)
}

#[cfg(test)]
#[path = "mod_tests.rs"]
mod tests;
