//! The virtual environment and the locked packages in it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::pip_output::{self, Line};
use super::{Candidate, Progress, RuntimeError, process};

/// Settings of the operator that would send the packages elsewhere or silence what is read for the progress.
const NOT_FOR_US: [&str; 8] = [
    "PIP_TARGET",
    "PIP_PREFIX",
    "PIP_ROOT",
    "PIP_USER",
    "PIP_DRY_RUN",
    "PIP_QUIET",
    "PIP_REQUIREMENT",
    "PIP_PYTHON",
];

/// An attempt at work: everything that it writes is in its folder.
pub(super) struct Attempt<'a> {
    pub(super) candidate: &'a Candidate,
    pub(super) folder: PathBuf,
    pub(super) venv: PathBuf,
    pub(super) log_path: PathBuf,
    pub(super) log: File,
    pub(super) progress: &'a dyn Progress,
}

impl<'a> Attempt<'a> {
    pub(super) fn begin(
        candidate: &'a Candidate,
        folder: PathBuf,
        progress: &'a dyn Progress,
    ) -> Result<Self, RuntimeError> {
        fs::create_dir(&folder).map_err(RuntimeError::file("create", &folder))?;
        let temporary = folder.join("tmp");
        fs::create_dir(&temporary).map_err(RuntimeError::file("create", &temporary))?;
        let log_path = folder.join("pip.log");
        let log = File::create(&log_path).map_err(RuntimeError::file("create", &log_path))?;
        Ok(Self { candidate, venv: folder.join("venv"), folder, log_path, log, progress })
    }

    pub(super) fn python(&self) -> PathBuf {
        self.venv.join("bin/python3")
    }

    pub(super) fn temporary(&self) -> PathBuf {
        self.folder.join("tmp")
    }

    pub(super) fn site_packages(&self) -> PathBuf {
        site_packages(&self.venv, &self.candidate.version)
    }

    /// With pip from Python's own bundled wheel: no network, and `%pip` works inside the sandbox.
    pub(super) fn make_venv(&mut self) -> Result<(), RuntimeError> {
        self.progress.stage("making a virtual environment");
        let program = &self.candidate.interpreter;
        let mut command = process::python(program);
        command.args(["-m", "venv"]).arg(&self.venv).env("TMPDIR", self.temporary());
        let ended = process::stream(command, &mut self.log, &mut |_| true)
            .map_err(|cause| RuntimeError::Run { program: program.clone(), cause })?;
        if ended.status.success() {
            return Ok(());
        }
        let said = process::last_line(ended.tail.iter().map(String::as_str)).to_owned();
        Err(RuntimeError::Venv { said, log: self.log_path.clone() })
    }

    /// Exactly the locked files, checked by hash, never built from source. Gives their number.
    pub(super) fn install_packages(&mut self, lock: &str, cache: &Path) -> Result<u64, RuntimeError> {
        let lock_path = self.folder.join("requirements.lock");
        fs::write(&lock_path, lock).map_err(RuntimeError::file("write", &lock_path))?;
        let program = self.python();
        let mut command = process::python(&program);
        command.args(["-m", "pip", "install", "--require-hashes", "--only-binary", ":all:", "--no-input"]);
        command.args(["--disable-pip-version-check", "--no-color", "--progress-bar", "off", "--no-user"]);
        // Compiled later, with the paths of the inside.
        command.args(["--no-compile", "--no-warn-script-location", "--root-user-action", "ignore"]);
        command.arg("-r").arg(&lock_path).env("TMPDIR", self.temporary());
        for name in NOT_FOR_US {
            command.env_remove(name);
        }
        if std::env::var_os("PIP_CACHE_DIR").is_none() {
            command.env("PIP_CACHE_DIR", cache);
        }

        let mut total = pip_output::names_in(lock).len() as u64;
        let site = self.site_packages();
        let before = installed_in(&site);
        let (progress, log) = (self.progress, &mut self.log);
        progress.stage("downloading the locked packages");
        let unpacked = AtomicBool::new(false);
        let ended = thread::scope(|scope| {
            let mut collected = 0u64;
            let mut on_line = |line: &str| {
                match pip_output::read(line) {
                    Line::Ignoring => total = total.saturating_sub(1),
                    Line::Collecting(name) => {
                        progress.step(collected.min(total), total, name);
                        collected += 1;
                    }
                    Line::Fetching(text) => {
                        progress.step(collected.saturating_sub(1).min(total), total, &text)
                    }
                    Line::Installing => {
                        progress.stage("installing the packages");
                        let (site, unpacked) = (&site, &unpacked);
                        scope.spawn(move || count_installed(site, before, total, unpacked, progress));
                    }
                    Line::Other => {}
                }
                true
            };
            let ended = process::stream(command, log, &mut on_line);
            unpacked.store(true, Ordering::Relaxed);
            ended
        });
        let ended = ended.map_err(|cause| RuntimeError::Run { program, cause })?;
        if ended.status.success() {
            return Ok(total);
        }
        let said = pip_output::what_happened(&ended.tail);
        Err(RuntimeError::Pip { said, advice: pip_output::advice(&ended.tail), log: self.log_path.clone() })
    }
}

/// `venv/lib/python3.11/site-packages`
pub(super) fn site_packages(venv: &Path, version: &str) -> PathBuf {
    let minor = version.rsplit_once('.').map_or("3", |(minor, _)| minor);
    venv.join(format!("lib/python{minor}/site-packages"))
}

/// pip says nothing while it unpacks; each finished package has its record.
fn count_installed(site: &Path, before: u64, total: u64, done: &AtomicBool, progress: &dyn Progress) {
    let mut last = u64::MAX;
    while !done.load(Ordering::Relaxed) {
        let count = installed_in(site).saturating_sub(before).min(total);
        if count != last {
            progress.step(count, total, "");
            last = count;
        }
        thread::sleep(Duration::from_millis(100));
    }
}

fn installed_in(site: &Path) -> u64 {
    let entries = fs::read_dir(site).into_iter().flatten().flatten();
    let records =
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "dist-info"));
    records.filter(|path| path.join("RECORD").is_file()).count() as u64
}
