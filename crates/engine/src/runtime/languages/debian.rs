//! Packages of the distribution, unpacked into a folder and not installed: no root is needed, and nothing of the
//! host changes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::add::Making;
use crate::runtime::RuntimeError;

/// Whether the distribution has a package of this name.
pub(super) fn has(making: &Making<'_>, package: &str) -> Result<bool, RuntimeError> {
    let mut command = Command::new("apt-cache");
    command.args(["policy", package]);
    let said = making.ask("ask apt for packages", command).map_err(|error| no_apt(making, error))?;
    Ok(said.lines().any(|line| line.trim().starts_with("Candidate:") && !line.contains("(none)")))
}

/// What would have to be installed for `packages`, themselves included.
pub(super) fn with_what_is_missing(
    making: &Making<'_>,
    packages: &[&str],
) -> Result<Vec<String>, RuntimeError> {
    let mut command = Command::new("apt-get");
    command.args(["install", "--simulate", "--no-install-recommends", "--quiet"]).args(packages);
    let said = making.ask("ask apt for packages", command).map_err(|error| no_apt(making, error))?;
    let named = said.lines().filter_map(|line| line.strip_prefix("Inst ")?.split(' ').next());
    let mut all: Vec<String> = packages.iter().map(|package| (*package).to_owned()).collect();
    all.extend(named.map(str::to_owned));
    all.sort();
    all.dedup();
    Ok(all)
}

/// Downloads and unpacks; gives the folder that is their root.
pub(super) fn unpack(making: &mut Making<'_>, packages: &[String]) -> Result<PathBuf, RuntimeError> {
    making.progress.stage(&format!("downloading {}", packages.join(", ")));
    let (files, root) = (making.aside.join("packages"), making.aside.join("root"));
    for folder in [&files, &root] {
        fs::create_dir_all(folder).map_err(RuntimeError::file("create", folder))?;
    }
    let mut download = Command::new("apt-get");
    download.args(["download", "--quiet"]).args(packages).current_dir(&files);
    making.run("download its packages with apt-get", download)?;
    making.progress.stage("unpacking them");
    let entries = fs::read_dir(&files).map_err(RuntimeError::file("read", &files))?;
    for package in entries.flatten().map(|entry| entry.path()).filter(|path| is_package(path)) {
        let mut extract = Command::new("dpkg-deb");
        extract.arg("--extract").arg(&package).arg(&root);
        making.run("unpack its packages with dpkg-deb", extract)?;
        // Room: the unpacked files are all that is needed from here on.
        fs::remove_file(&package).map_err(RuntimeError::file("remove", &package))?;
    }
    Ok(root)
}

fn is_package(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "deb")
}

fn no_apt(making: &Making<'_>, error: RuntimeError) -> RuntimeError {
    match error {
        RuntimeError::Run { .. } => making.failed(
            "download it",
            "it comes as packages of Debian or Ubuntu, and this machine has no apt-get",
        ),
        error => error,
    }
}
