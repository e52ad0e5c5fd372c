//! Walking over a prepared folder, and opening it to the sandbox's user.

use std::fs::{self, FileType, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::RuntimeError;

type Visit<'a> = &'a mut dyn FnMut(&Path, FileType) -> Result<(), RuntimeError>;

/// Visits everything below a folder; links are visited, not followed.
pub(super) fn walk(folder: &Path, visit: Visit<'_>) -> Result<(), RuntimeError> {
    let entries = fs::read_dir(folder).map_err(RuntimeError::file("read", folder))?;
    for entry in entries {
        let entry = entry.map_err(RuntimeError::file("read", folder))?;
        let path = entry.path();
        let kind = entry.file_type().map_err(RuntimeError::file("read", &path))?;
        visit(&path, kind)?;
        if kind.is_dir() {
            walk(&path, visit)?;
        }
    }
    Ok(())
}

/// The sandbox runs under another user than the one who prepared this, whose umask may be strict.
pub(super) fn open_to_everyone(folder: &Path) -> Result<(), RuntimeError> {
    set_mode(folder, true)?;
    walk(folder, &mut |path, kind| if kind.is_symlink() { Ok(()) } else { set_mode(path, kind.is_dir()) })
}

fn set_mode(path: &Path, is_folder: bool) -> Result<(), RuntimeError> {
    let now = fs::metadata(path).map_err(RuntimeError::file("read", path))?.permissions().mode() & 0o7777;
    let wanted = if is_folder || now & 0o100 != 0 { 0o755 } else { 0o644 };
    if now == wanted {
        return Ok(());
    }
    fs::set_permissions(path, Permissions::from_mode(wanted))
        .map_err(RuntimeError::file("change the mode of", path))
}
