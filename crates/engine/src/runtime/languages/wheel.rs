//! Tools that come as packages of the Python index: the locked file, checked by hash, unpacked by pip.

use std::fs;
use std::path::PathBuf;

use super::add::Making;
use crate::runtime::{RuntimeError, pip_output, process};

/// Unpacks what the edition's lock names, or `chosen` where it has none; gives the folder.
pub(super) fn unpack(making: &mut Making<'_>, chosen: &str) -> Result<PathBuf, RuntimeError> {
    making.progress.stage(&format!("downloading {}", making.edition.title()));
    let (lock_path, target) = (making.aside.join("wheel.lock"), making.aside.join("wheel"));
    fs::write(&lock_path, making.edition.lock().unwrap_or(chosen))
        .map_err(RuntimeError::file("write", &lock_path))?;
    let mut command = process::python(&making.python.venv.join("bin/python3"));
    command.args(["-m", "pip", "install", "--require-hashes", "--only-binary", ":all:", "--no-deps"]);
    command.args(["--no-input", "--disable-pip-version-check", "--no-color", "--progress-bar", "off"]);
    command.args(["--no-compile", "--no-warn-script-location", "--root-user-action", "ignore"]);
    command.arg("--target").arg(&target).arg("-r").arg(&lock_path);
    for name in ["PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_DRY_RUN", "PIP_REQUIREMENT"] {
        command.env_remove(name);
    }
    if std::env::var_os("PIP_CACHE_DIR").is_none() {
        command.env("PIP_CACHE_DIR", making.aside.join("pip-cache"));
    }
    let progress = making.progress;
    making.lines("download it with pip", command, &mut |line| {
        if let pip_output::Line::Fetching(text) = pip_output::read(line) {
            progress.stage(&format!("downloading {text}"));
        }
    })?;
    Ok(target)
}
