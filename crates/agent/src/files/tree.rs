//! Looking at files and folders, making, moving and removing them.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use sandgate_agent::protocol::{Entry, Failure, FailureKind};

use crate::connection::failure;
use crate::files::entry::look;

type Outcome<T> = Result<T, Failure>;

fn refused(kind: FailureKind, text: impl Into<String>) -> Failure {
    Failure { kind, text: text.into() }
}

fn said(error: io::Error) -> Failure {
    failure(&error)
}

pub(crate) fn stat(path: &str) -> Outcome<Vec<Entry>> {
    Ok(vec![look(Path::new(path)).map_err(said)?])
}

/// In the order of their paths. Folders that links lead to are not gone into.
pub(crate) fn list(path: &str, depth: u32, most: usize) -> Outcome<Vec<Entry>> {
    let mut entries = Vec::new();
    let mut folders = vec![(PathBuf::from(path), depth)];
    let mut first = true;
    while let Some((folder, depth)) = folders.pop() {
        let names = match fs::read_dir(&folder) {
            Ok(names) => names,
            Err(error) if std::mem::take(&mut first) => return Err(said(error)),
            // One further down that may not be read, or is gone by now.
            Err(_) => continue,
        };
        first = false;
        for name in names.flatten() {
            let Ok(entry) = look(&name.path()) else { continue };
            if entries.len() == most {
                let text = format!("there are more than {most} files and folders");
                return Err(refused(FailureKind::Other, text));
            }
            if depth > 1 && name.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push((name.path(), depth - 1));
            }
            entries.push(entry);
        }
    }
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(entries)
}

/// With all above it. Something else in its place is said to be no folder.
pub(crate) fn make_folders(path: &Path) -> io::Result<()> {
    match fs::create_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(io::Error::from_raw_os_error(libc::ENOTDIR))
        }
        other => other,
    }
}

pub(crate) fn make_dir(path: &str) -> Outcome<Vec<Entry>> {
    let path = Path::new(path);
    match fs::metadata(path) {
        Ok(meta) if meta.is_dir() => return Err(refused(FailureKind::Exists, "the folder exists already")),
        Ok(_) => return Err(refused(FailureKind::NotAFolder, "there is a file that is not a folder")),
        Err(_) => {}
    }
    make_folders(path).map_err(said)?;
    Ok(vec![look(path).map_err(said)?])
}

pub(crate) fn rename(from: &str, to: &str) -> Outcome<Vec<Entry>> {
    let (from, to) = (Path::new(from), Path::new(to));
    let before = fs::symlink_metadata(from).map_err(said)?;
    keep_mounts(from, &before)?;
    if let Some(folder) = to.parent() {
        make_folders(folder).map_err(said)?;
    }
    match fs::rename(from, to) {
        Err(error) if error.raw_os_error() == Some(libc::EXDEV) => move_across(from, to)?,
        done => done.map_err(said)?,
    }
    Ok(vec![look(to).map_err(said)?])
}

/// From one file system to another, which takes copying. The distribution's own tool keeps times and modes.
fn move_across(from: &Path, to: &Path) -> Outcome<()> {
    let done =
        Command::new("/usr/bin/mv").args(["-f", "-T", "--"]).arg(from).arg(to).output().map_err(said)?;
    if done.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&done.stderr);
    let kind = if text.contains("No space") || text.contains("quota") {
        FailureKind::NoSpace
    } else if text.contains("ermission denied") || text.contains("Read-only") {
        FailureKind::Denied
    } else {
        FailureKind::Other
    };
    Err(refused(kind, text.trim().chars().take(500).collect::<String>()))
}

/// A folder goes with all it holds, a link alone.
pub(crate) fn remove(path: &str) -> Outcome<()> {
    let path = Path::new(path);
    let meta = fs::symlink_metadata(path).map_err(said)?;
    keep_mounts(path, &meta)?;
    if meta.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.map_err(said)
}

/// The places of the sandbox itself stay: emptying one, only to be told that it cannot go, would be the worst.
fn keep_mounts(path: &Path, meta: &fs::Metadata) -> Outcome<()> {
    let above = path.parent().and_then(|above| fs::metadata(above).ok());
    if meta.is_dir() && above.is_none_or(|above| above.dev() != meta.dev()) {
        return Err(refused(FailureKind::Denied, "it belongs to the sandbox itself"));
    }
    Ok(())
}

pub(crate) fn set_mode(path: &str, mode: u32) -> Outcome<()> {
    fs::set_permissions(path, Permissions::from_mode(mode & 0o7777)).map_err(said)
}
