//! Where data lives: `SANDGATE_HOME`, else the XDG data folder. Nothing is written anywhere else.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

#[derive(Debug, thiserror::Error)]
pub(crate) enum HomeError {
    #[error("there is no place for data: set SANDGATE_HOME to a folder, or HOME")]
    Nowhere,
    #[error("the data folder {path} cannot be used: {cause}; set SANDGATE_HOME to a folder you may write to", path = path.display())]
    Unusable { path: PathBuf, cause: io::Error },
}

/// The data folder, made if it is not there, for this user alone.
pub(crate) fn open() -> Result<PathBuf, HomeError> {
    let path = resolve(|name| std::env::var_os(name))?;
    match make(&path) {
        Ok(path) => Ok(path),
        Err(cause) => Err(HomeError::Unusable { path, cause }),
    }
}

/// Where the data folder is or would be, for those who only look.
pub(crate) fn place() -> Result<PathBuf, HomeError> {
    let path = resolve(|name| std::env::var_os(name))?;
    std::path::absolute(&path).map_err(|cause| HomeError::Unusable { path, cause })
}

fn resolve(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, HomeError> {
    let given = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    // A relative XDG_DATA_HOME is to be ignored, says the XDG specification.
    let data = || given("XDG_DATA_HOME").filter(|path| path.is_absolute());
    given("SANDGATE_HOME")
        .or_else(|| Some(data()?.join("sandgate")))
        .or_else(|| Some(given("HOME")?.join(".local/share/sandgate")))
        .ok_or(HomeError::Nowhere)
}

fn make(path: &Path) -> io::Result<PathBuf> {
    // Helpers run in other folders, so the path must not depend on the current one.
    let path = std::path::absolute(path)?;
    DirBuilder::new().recursive(true).mode(0o700).create(&path)?;
    access(&path, Access::WRITE_OK | Access::EXEC_OK)?;
    Ok(path)
}

#[cfg(test)]
#[path = "home_tests.rs"]
mod tests;
