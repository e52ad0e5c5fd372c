//! Paths as clients write them: absolute, below the home of the user with `~`, or relative to it.

use sandgate_core::SandboxPath;

use super::refusal::Refusal;
use super::user::HOME;

pub(super) fn resolve(path: &str) -> Result<SandboxPath, Refusal> {
    let absolute = match path.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{HOME}{rest}"),
        Some(_) => return Err(Refusal::invalid("a home other than one's own cannot be named with '~'")),
        None if path.starts_with('/') => path.to_owned(),
        None => format!("{HOME}/{path}"),
    };
    Ok(SandboxPath::parse(&absolute)?)
}

/// The last name of a path.
pub(super) fn name_of(path: &str) -> &str {
    match path.trim_end_matches('/').rsplit('/').next() {
        None | Some("") => "/",
        Some(name) => name,
    }
}

#[cfg(test)]
#[path = "paths_tests.rs"]
mod tests;
