//! The sandbox that a request is for.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use sandgate_core::{Container, KeyLimits, Lease, Sandbox};

use super::details::Details;
use super::error::{Answered, Refusal};

/// Found among the extensions of a request. Whoever sent it was allowed in, and the sandbox runs.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) lease: Arc<Lease>,
    pub(super) details: Arc<Details>,
    pub(super) container: Arc<Container>,
}

impl Target {
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
