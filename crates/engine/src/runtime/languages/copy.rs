//! Copies a tree of files so that it stands alone: a link that leads out of it becomes what it leads to.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

use crate::runtime::RuntimeError;

/// Copies `from`, a folder below `root`, to `to`. Links are read as if `root` were the root of the file system;
/// one that leads to nothing is left out, as are the names in `without`.
pub(super) fn tree(root: &Path, from: &Path, to: &Path, without: &[&str]) -> Result<(), RuntimeError> {
    fs::create_dir_all(to).map_err(RuntimeError::file("create", to))?;
    let entries = fs::read_dir(from).map_err(RuntimeError::file("read", from))?;
    for entry in entries {
        let entry = entry.map_err(RuntimeError::file("read", from))?;
        let name = entry.file_name();
        if without.iter().any(|left_out| name == *left_out) {
            continue;
        }
        let (source, target) = (entry.path(), to.join(&name));
        let kind = entry.file_type().map_err(RuntimeError::file("read", &source))?;
        if kind.is_dir() {
            tree(root, &source, &target, without)?;
        } else if kind.is_file() {
            fs::copy(&source, &target).map_err(RuntimeError::file("copy", &source))?;
        } else if kind.is_symlink() {
            link(root, &source, &target)?;
        }
    }
    Ok(())
}

fn link(root: &Path, source: &Path, target: &Path) -> Result<(), RuntimeError> {
    let to = fs::read_link(source).map_err(RuntimeError::file("read", source))?;
    if to.components().count() == 1 && matches!(to.components().next(), Some(Component::Normal(_))) {
        // To a neighbour, which is copied too.
        return symlink(&to, target).map_err(RuntimeError::file("link", target));
    }
    let Some(meant) = resolve(root, source, 0) else { return Ok(()) };
    if meant.is_file() {
        fs::copy(&meant, target).map(drop).map_err(RuntimeError::file("copy", &meant))?;
    }
    Ok(())
}

/// Where a link leads within `root`.
fn resolve(root: &Path, link: &Path, depth: u32) -> Option<PathBuf> {
    if depth > 8 {
        return None;
    }
    let to = fs::read_link(link).ok()?;
    let meant = match to.strip_prefix("/") {
        Ok(below) => root.join(below),
        Err(_) => link.parent()?.join(&to),
    };
    let meta = meant.symlink_metadata().ok()?;
    if meta.is_symlink() { resolve(root, &meant, depth + 1) } else { Some(meant) }
}

#[cfg(test)]
#[path = "copy_tests.rs"]
mod tests;
