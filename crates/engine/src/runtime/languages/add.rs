//! Making a runtime: aside, whole, then renamed into its place; one process at a time.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use super::installed::{self, State, state};
use super::{Edition, LANGUAGES_FOLDER, Tool, go, java, node, r};
use crate::runtime::{Progress, PythonRuntime, RuntimeError, files, folder, prepare, process};

/// Gives the version that is there now; makes the runtime first when it is missing or not of this program.
pub fn add(
    runtimes: &Path,
    edition: impl Into<Edition>,
    progress: &dyn Progress,
) -> Result<String, RuntimeError> {
    let edition = edition.into();
    let runtimes = &std::path::absolute(runtimes).map_err(RuntimeError::file("find", runtimes))?;
    if let State::Ready(ready) = state(runtimes, edition) {
        return Ok(ready.version);
    }
    // Its pip fetches some of the parts.
    let python = prepare(runtimes, progress)?;
    let languages = runtimes.join(LANGUAGES_FOLDER);
    fs::create_dir_all(&languages).map_err(RuntimeError::file("create", &languages))?;
    let held = folder::lock(runtimes, progress)?;
    // Another process may have made it while this one waited.
    if let State::Ready(ready) = state(runtimes, edition) {
        return Ok(ready.version);
    }
    folder::remove_leftovers(&held, runtimes)?;
    let begun = Instant::now();
    // Not among the finished ones, which sandboxes see.
    let part = folder::part(runtimes, &format!("language-{edition}"));
    let kept_log = runtimes.join(format!("language-{edition}.failed.log"));
    let made = make(&part, edition, &python, progress).and_then(|version| {
        installed::mark(&part.join(WHOLE), edition, &version, begun.elapsed().as_secs())?;
        files::open_to_everyone(&part.join(WHOLE))?;
        folder::put_in_place(&held, &part.join(WHOLE), &installed::folder(runtimes, edition))?;
        Ok(version)
    });
    let log_is_kept = made.is_err() && fs::rename(part.join(LOG), &kept_log).is_ok();
    let _ = fs::remove_dir_all(&part);
    match made {
        Ok(version) => {
            let _ = fs::remove_file(&kept_log);
            let seconds = begun.elapsed().as_secs();
            progress.finish(&format!("{} {version} is ready ({seconds} s)", edition.tool.title()));
            Ok(version)
        }
        Err(error) if log_is_kept => Err(error.with_log(&kept_log)),
        Err(error) => Err(error),
    }
}

/// Whether there was something to remove. Contexts that run from it go on until they need another file of it.
pub fn remove(runtimes: &Path, edition: Edition, progress: &dyn Progress) -> Result<bool, RuntimeError> {
    let place = installed::folder(runtimes, edition);
    if state(runtimes, edition) == State::Missing {
        return Ok(false);
    }
    let _held = folder::lock(runtimes, progress)?;
    // Its name goes at once: half a runtime must not look like one.
    let aside = folder::part(runtimes, &format!("language-{edition}-removed"));
    fs::rename(&place, &aside).map_err(RuntimeError::file("move away", &place))?;
    fs::remove_dir_all(&aside).map_err(RuntimeError::file("remove", &aside))?;
    Ok(true)
}

/// The folder within an attempt that becomes the runtime.
const WHOLE: &str = "whole";
const LOG: &str = "log";

/// Gives the version.
fn make(
    part: &Path,
    edition: Edition,
    python: &PythonRuntime,
    progress: &dyn Progress,
) -> Result<String, RuntimeError> {
    let mut attempt = Making::begin(part, edition, python, progress)?;
    match edition.tool {
        Tool::Node => node::make(&mut attempt),
        Tool::Go => go::make(&mut attempt),
        Tool::Java => java::make(&mut attempt),
        Tool::R => r::make(&mut attempt),
    }
}

/// An attempt at work: everything that it writes is in its folder.
pub(super) struct Making<'a> {
    pub(super) edition: Edition,
    /// What becomes the runtime.
    pub(super) whole: PathBuf,
    /// For whatever is only needed on the way.
    pub(super) aside: PathBuf,
    pub(super) python: &'a PythonRuntime,
    pub(super) progress: &'a dyn Progress,
    log: File,
    log_path: PathBuf,
}

impl<'a> Making<'a> {
    fn begin(
        part: &Path,
        edition: Edition,
        python: &'a PythonRuntime,
        progress: &'a dyn Progress,
    ) -> Result<Self, RuntimeError> {
        let (whole, aside, log_path) = (part.join(WHOLE), part.join("aside"), part.join(LOG));
        for folder in [part, &whole, &aside] {
            fs::create_dir(folder).map_err(RuntimeError::file("create", folder))?;
        }
        let log = File::create(&log_path).map_err(RuntimeError::file("create", &log_path))?;
        Ok(Self { edition, whole, aside, python, progress, log, log_path })
    }

    /// Runs a command that must end well; `doing` reads after "cannot".
    pub(super) fn run(&mut self, doing: &'static str, command: Command) -> Result<(), RuntimeError> {
        self.lines(doing, command, &mut |_| ())
    }

    /// The same, with every line that it writes.
    pub(super) fn lines(
        &mut self,
        doing: &'static str,
        mut command: Command,
        on_line: &mut dyn FnMut(&str),
    ) -> Result<(), RuntimeError> {
        let program = PathBuf::from(command.get_program());
        command.stdin(Stdio::null()).env("TMPDIR", &self.aside);
        let mut on_line = |line: &str| {
            on_line(line);
            true
        };
        let ended = process::stream(command, &mut self.log, &mut on_line)
            .map_err(|cause| RuntimeError::Run { program, cause })?;
        if ended.status.success() {
            return Ok(());
        }
        Err(self.failed(doing, &what_it_said(&ended.tail)))
    }

    pub(super) fn failed(&self, doing: &'static str, said: &str) -> RuntimeError {
        let (tool, said) = (self.edition.tool.title(), said.to_owned());
        RuntimeError::Language { tool, doing, said, log: self.log_path.clone() }
    }

    /// The whole of what a command says on standard output.
    pub(super) fn ask(&self, doing: &'static str, mut command: Command) -> Result<String, RuntimeError> {
        let program = PathBuf::from(command.get_program());
        command.stdin(Stdio::null()).env("TMPDIR", &self.aside);
        let output = process::ask(command, PATIENCE).map_err(|cause| RuntimeError::Run { program, cause })?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(self.failed(doing, process::last_line(said.lines())))
    }
}

const PATIENCE: std::time::Duration = std::time::Duration::from_secs(120);

/// The lines that name an error, or else the last one.
fn what_it_said(tail: &[String]) -> String {
    let lines = tail.iter().map(|line| line.trim());
    let errors: Vec<&str> = lines
        .clone()
        .filter(|line| ["E: ", "ERROR: ", "npm error "].iter().any(|mark| line.starts_with(mark)))
        .take(3)
        .collect();
    if errors.is_empty() { process::last_line(lines).to_owned() } else { errors.join("; ") }
}

/// Moves a file or folder within the attempt.
pub(super) fn rename(from: &Path, to: &Path) -> Result<(), RuntimeError> {
    fs::rename(from, to).map_err(RuntimeError::file("move", from))
}

/// What is not needed goes, where it is there.
pub(super) fn prune(folder: &Path, names: &[&str]) -> Result<(), RuntimeError> {
    for name in names {
        let path = folder.join(name);
        let gone = match path.symlink_metadata() {
            Err(_) => continue,
            Ok(meta) if meta.is_dir() => fs::remove_dir_all(&path),
            Ok(_) => fs::remove_file(&path),
        };
        gone.map_err(RuntimeError::file("remove", &path))?;
    }
    Ok(())
}
