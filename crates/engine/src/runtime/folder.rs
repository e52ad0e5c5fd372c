//! The folder of a prepared runtime: its name, the mark that it is whole, the lock, and what dead attempts left.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Candidate, Progress, PythonRuntime, RuntimeError};

/// Raised when a runtime is laid out differently, so that older ones are prepared anew.
const FORMAT: u32 = 1;
const MARK: &str = "ready.json";
const LOCK: &str = ".lock";
const PART: &str = ".part-";

/// Written last, inside the folder, before the folder gets its name.
#[derive(Debug, Serialize, Deserialize)]
struct Mark {
    format: u32,
    interpreter: PathBuf,
    version: String,
    base_prefix: PathBuf,
    optimised: bool,
    packages: u64,
    seconds: u64,
}

/// `python-3.11.2-0123456789ab`: another lock file, interpreter or layout is another folder.
pub(super) fn name(candidate: &Candidate, lock: &str) -> String {
    let mut hash = Sha256::new();
    let interpreter = candidate.interpreter.as_os_str().as_bytes();
    for part in [lock.as_bytes(), interpreter, candidate.version.as_bytes(), &FORMAT.to_le_bytes()] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let hex: String = hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    format!("python-{}-{hex}", candidate.version)
}

/// The folder in which an attempt of this process works until it is whole.
pub(super) fn part(runtimes: &Path, name: &str) -> PathBuf {
    runtimes.join(format!("{name}{PART}{}", std::process::id()))
}

pub(super) fn mark_ready(
    folder: &Path,
    candidate: &Candidate,
    packages: u64,
    seconds: u64,
) -> Result<(), RuntimeError> {
    let Candidate { interpreter, version, base_prefix, optimised, .. } = candidate.clone();
    let mark = Mark { format: FORMAT, interpreter, version, base_prefix, optimised, packages, seconds };
    let path = folder.join(MARK);
    let file = File::create(&path).map_err(RuntimeError::file("create", &path))?;
    serde_json::to_writer_pretty(file, &mark).map_err(|e| RuntimeError::file("write", &path)(e.into()))
}

/// What the folder holds.
pub(super) enum Found {
    Ready(PythonRuntime),
    Nothing,
    /// Something is there, but not a whole runtime; the text reads after "the folder".
    Broken(String),
}

pub(super) fn look(folder: &Path, candidate: &Candidate) -> Found {
    if folder.symlink_metadata().is_err() {
        return Found::Nothing;
    }
    let mark: Mark = match fs::read(folder.join(MARK)).map(|bytes| serde_json::from_slice(&bytes)) {
        Ok(Ok(mark)) => mark,
        Ok(Err(e)) => return Found::Broken(format!("has a damaged {MARK}: {e}")),
        Err(e) => return Found::Broken(format!("has no readable {MARK}: {e}")),
    };
    if mark.interpreter != candidate.interpreter || mark.version != candidate.version || mark.format != FORMAT
    {
        return Found::Broken(format!(
            "was made for Python {} at {}",
            mark.version,
            mark.interpreter.display()
        ));
    }
    let venv = folder.join("venv");
    match fs::read_link(venv.join("bin/python3")) {
        Ok(target) if target == candidate.interpreter && venv.join("pyvenv.cfg").is_file() => {}
        _ => return Found::Broken("has lost parts of its virtual environment".to_owned()),
    }
    Found::Ready(PythonRuntime {
        interpreter: candidate.interpreter.clone(),
        version: candidate.version.clone(),
        base_prefix: candidate.base_prefix.clone(),
        venv,
        optimised: candidate.optimised,
        why: candidate.why.clone(),
    })
}

/// Held while runtimes of this home are made; ends with the process however that ends.
pub(super) struct Lock {
    _file: File,
}

/// One process prepares, others wait for it and say so.
pub(super) fn lock(runtimes: &Path, progress: &dyn Progress) -> Result<Lock, RuntimeError> {
    let path = runtimes.join(LOCK);
    let file = File::options().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(RuntimeError::file("open", &path))?;
    let failed = |e: rustix::io::Errno| RuntimeError::file("lock", &path)(e.into());
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => return Ok(Lock { _file: file }),
        Err(rustix::io::Errno::WOULDBLOCK) => {}
        Err(e) => return Err(failed(e)),
    }
    progress.stage("waiting: another Sandgate process is preparing a runtime");
    rustix::io::retry_on_intr(|| flock(&file, FlockOperation::LockExclusive)).map_err(failed)?;
    Ok(Lock { _file: file })
}

/// Under the lock nobody else is at work, so every unfinished folder belongs to an attempt that died.
pub(super) fn remove_leftovers(_held: &Lock, runtimes: &Path) -> Result<(), RuntimeError> {
    let entries = fs::read_dir(runtimes).map_err(RuntimeError::file("read", runtimes))?;
    for entry in entries.flatten().filter(|entry| is_part(&entry.file_name())) {
        // A pip that outlived its server may still write there; the next start tries again.
        let _ = fs::remove_dir_all(entry.path());
    }
    Ok(())
}

fn is_part(name: &OsStr) -> bool {
    let ours = |name: &str| name.starts_with("python-") || name.starts_with("language-");
    name.to_str().is_some_and(|name| ours(name) && name.contains(PART))
}

/// Makes an attempt the runtime. Whatever broken thing has the name goes first.
pub(super) fn put_in_place(_held: &Lock, part: &Path, folder: &Path) -> Result<(), RuntimeError> {
    // On the disk before it has its name: a name after a power cut must mean whole files.
    let whole = File::open(part).and_then(|file| rustix::fs::syncfs(&file).map_err(io::Error::from));
    whole.map_err(RuntimeError::file("write out", part))?;
    if folder.symlink_metadata().is_ok() {
        let aside = part.with_extension(format!("old{PART}{}", std::process::id()));
        fs::rename(folder, &aside).map_err(RuntimeError::file("move away", folder))?;
        let _ = fs::remove_dir_all(&aside);
    }
    fs::rename(part, folder).map_err(RuntimeError::file("put in place", folder))
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;
