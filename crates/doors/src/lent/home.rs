//! Paths as clients write them: absolute, below the home of the user with `~`, or relative to some folder.

use sandgate_core::{BackendError, SandboxPath};

pub(crate) const HOME: &str = "/home/user";

/// `from`: where relative paths start.
pub(crate) fn resolve(path: &str, from: &str) -> Result<SandboxPath, BackendError> {
    let absolute = match path.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{HOME}{rest}"),
        Some(_) => {
            let reason = "a home other than one's own cannot be named with '~'";
            return Err(BackendError::Invalid(reason.to_owned()));
        }
        None if path.starts_with('/') => path.to_owned(),
        None => format!("{from}/{path}"),
    };
    SandboxPath::parse(&absolute)
}

/// The last name of a path.
pub(crate) fn name_of(path: &str) -> &str {
    match path.trim_end_matches('/').rsplit('/').next() {
        None | Some("") => "/",
        Some(name) => name,
    }
}

#[cfg(test)]
#[path = "home_tests.rs"]
mod tests;
