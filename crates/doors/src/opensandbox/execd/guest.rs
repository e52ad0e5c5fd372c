//! The sandbox a request is for, running, and what is remembered of it.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::Uri;
use axum::http::request::Parts;
use sandgate_core::{BackendError, FileKind, Inside, Processes, Sandbox, SandboxPath};

use super::super::Door;
use super::super::target::Target;
use super::place::{Place, Places};
use super::refusal::{Code, Refusal};
use crate::lent::{form, home};

/// Who programs in a sandbox run as, and nobody else.
pub(super) const USER: &str = "user";
pub(super) const USER_ID: u32 = 1000;

#[derive(Clone, Debug)]
pub(super) struct Guest {
    pub(super) target: Target,
    pub(super) sandbox: Arc<dyn Sandbox>,
    pub(super) place: Arc<Place>,
}

impl FromRequestParts<Door> for Guest {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, door: &Door) -> Result<Self, Refusal> {
        let lost = || {
            let status = axum::http::StatusCode::NOT_FOUND;
            Refusal::new(status, Code::SandboxNotFound, "Sandbox not found.")
        };
        let target = parts.extensions.get::<Target>().cloned().ok_or_else(lost)?;
        let places = parts.extensions.get::<Places>().cloned().ok_or_else(lost)?;
        let sandbox = target.sandbox().await?;
        let place = places.of(door, &target.lease.id).ok_or_else(lost)?;
        Ok(Self { target, sandbox, place })
    }
}

impl Guest {
    pub(super) async fn inside(&self) -> Result<Arc<dyn Inside>, Refusal> {
        Ok(self.sandbox.inside().await?)
    }

    pub(super) async fn processes(&self) -> Result<Arc<dyn Processes>, Refusal> {
        Ok(self.sandbox.processes().await?)
    }

    /// Where contexts and commands work that do not say where.
    pub(super) fn works_in(&self) -> &str {
        self.target.container.spec().working_dir.as_deref().unwrap_or(SandboxPath::WORKING_DIR)
    }

    pub(super) fn resolve(&self, path: &str) -> Result<SandboxPath, Refusal> {
        Ok(home::resolve(path, self.works_in())?)
    }

    /// The folder that something is to work in.
    pub(super) async fn folder(&self, cwd: Option<&str>) -> Result<String, Refusal> {
        let Some(cwd) = cwd.filter(|cwd| !cwd.is_empty()) else { return Ok(self.works_in().to_owned()) };
        let path = self.resolve(cwd)?;
        match self.inside().await?.stat(&path).await {
            Ok(entry) if entry.kind == FileKind::Directory => Ok(path.to_string()),
            Ok(_) => Err(Refusal::invalid(format!("cwd '{path}' is not a directory"))),
            Err(BackendError::NoSuchFile(_) | BackendError::NotAFolder(_)) => {
                Err(Refusal::invalid(format!("cwd '{path}' does not exist")))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// What is asked for by number must be who programs run as anyway.
pub(super) fn check_ids(uid: Option<u32>, gid: Option<u32>) -> Result<(), Refusal> {
    if uid.is_none() && gid.is_some() {
        return Err(Refusal::invalid(
            "invalid request, validation error uid is required when gid is provided",
        ));
    }
    match [("uid", uid), ("gid", gid)].into_iter().find(|(_, id)| id.is_some_and(|id| id != USER_ID)) {
        Some((name, id)) => Err(Refusal::unsupported(format!(
            "{name} {} is not available: sandboxes here have one user, '{USER}' ({USER_ID}), and no root",
            id.unwrap_or_default()
        ))),
        None => Ok(()),
    }
}

/// The values that a name has behind the question mark.
pub(super) fn asked(uri: &Uri, name: &str) -> Vec<String> {
    let all = form(uri.query().unwrap_or_default());
    all.into_iter().filter(|(given, _)| given == name).map(|(_, value)| value).collect()
}

/// The first of them that says something.
pub(super) fn asked_one(uri: &Uri, name: &str) -> Option<String> {
    asked(uri, name).into_iter().find(|value| !value.is_empty())
}
