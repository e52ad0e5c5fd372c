//! The sandbox that a request is for.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use sandgate_core::{Container, ExecuteRequest, Joined, KeyLimits, Lease, Sandbox, StartProcess};

use super::DOOR;
use super::details::Details;
use super::error::{Answered, Refusal};
use crate::lent::{Asked, Borrower, Running, Runs};

/// Found among the extensions of a request. Whoever sent it was allowed in, and the sandbox runs.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) lease: Arc<Lease>,
    pub(super) details: Arc<Details>,
    pub(super) container: Arc<Container>,
    pub(super) asked: Asked,
    pub(super) runs: Runs,
}

impl Target {
    /// Runs code in the name of its maker.
    pub(super) async fn run(&self, request: ExecuteRequest) -> sandgate_core::Result<Running> {
        self.runs.code(&self.asked, &self.borrower(), &self.container, request).await
    }

    /// The same for a command.
    pub(super) async fn start(&self, process: StartProcess) -> sandgate_core::Result<Joined> {
        self.runs.command(&self.asked, &self.borrower(), &self.container, process).await
    }

    fn borrower(&self) -> Borrower<'_> {
        let key = self.details.key.as_deref();
        Borrower { owner: &self.lease.owner, key, limits: self.limits(), door: DOOR }
    }

    /// The running sandbox, started again over its files when it was lost.
    pub(super) async fn sandbox(&self) -> sandgate_core::Result<Arc<dyn Sandbox>> {
        self.container.sandbox_within(self.limits()).await
    }

    /// What the key of its maker may do.
    pub(super) fn limits(&self) -> &Arc<KeyLimits> {
        &self.details.limits
    }
}

impl<S: Sync> FromRequestParts<S> for Target {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Answered<Self> {
        let found = parts.extensions.get::<Self>().cloned();
        found.ok_or_else(|| Refusal::internal(&"a way into a sandbox was taken without a sandbox"))
    }
}
