//! Small steps of putting a file system together, on top of the raw calls.

use std::ffi::CStr;
use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;

use crate::sys::{self, c_string};
use crate::{Result, StepError};

/// From here on mounts of this namespace are seen nowhere else, and none arrive from outside.
pub(crate) fn make_private() -> Result<()> {
    sys::mount(c"none", c"/", None, libc::MS_REC | libc::MS_PRIVATE, None)
}

/// A memory file system that counts against the memory limit of whoever fills it.
pub(crate) fn tmpfs(target: &str, options: &str) -> Result<()> {
    let (target, options) = (c_string(target)?, c_string(options)?);
    sys::mount(c"tmpfs", &target, Some(c"tmpfs"), libc::MS_NOSUID | libc::MS_NODEV, Some(&options))
}

/// The process file system of the current PID namespace.
pub(crate) fn proc(target: &str) -> Result<()> {
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    sys::mount(c"proc", &c_string(target)?, Some(c"proc"), flags, None)
}

/// A set of terminals that nobody else has.
pub(crate) fn terminals(target: &str, options: &str) -> Result<()> {
    let flags = libc::MS_NOSUID | libc::MS_NOEXEC;
    sys::mount(c"devpts", &c_string(target)?, Some(c"devpts"), flags, Some(&c_string(options)?))
}

/// Shows `source` at `target`, with all mounts below it and with the attributes given.
pub(crate) fn bind(source: &str, target: &str, attributes: u64) -> Result<()> {
    let tree = sys::clone_tree(&c_string(source)?)?;
    if attributes != 0 {
        sys::set_tree_attributes(tree.as_fd(), attributes).map_err(|error| error.on(source))?;
    }
    sys::attach_tree(tree.as_fd(), &c_string(target)?)
}

/// A folder with exactly these permission bits, whatever the umask.
pub(crate) fn make_dir(path: &str, mode: u32) -> Result<()> {
    let failed = |error| StepError::new("making a folder", error).on(path);
    fs::create_dir_all(path).map_err(failed)?;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(failed)
}

/// A world-readable file.
pub(crate) fn make_file(path: &str, content: &[u8]) -> Result<()> {
    let failed = |error| StepError::new("writing a file", error).on(path);
    fs::write(path, content).map_err(failed)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).map_err(failed)
}

/// Makes the folder the root of this mount namespace and lets go of everything else.
pub(crate) fn pivot_into(folder: &CStr) -> Result<()> {
    sys::chdir(folder)?;
    sys::pivot_root_here()
}
