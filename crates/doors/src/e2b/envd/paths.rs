//! Paths as clients write them: relative ones are below the home of the user.

use sandgate_core::SandboxPath;

use super::refusal::Refusal;
use super::user::HOME;

pub(super) use crate::lent::home::name_of;

pub(super) fn resolve(path: &str) -> Result<SandboxPath, Refusal> {
    Ok(crate::lent::home::resolve(path, HOME)?)
}
