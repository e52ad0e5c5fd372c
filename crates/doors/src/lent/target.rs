//! The sandbox that a request is for.

use std::sync::Arc;

use sandgate_core::{Container, ExecuteRequest, Joined, KeyLimits, Lease, Sandbox, StartProcess};

use super::running::Running;
use super::runs::{Asked, Borrower, Runs};

/// What a door keeps of a lease, as far as running things in its name goes.
pub(crate) trait Lent {
    /// The door's name among the leases.
    const DOOR: &'static str;
    /// The id of the key it was made with.
    fn key(&self) -> Option<&str>;
    /// What that key might do when it last made or resumed the sandbox; [`super::Maker`] knows what it may now.
    fn limits(&self) -> &Arc<KeyLimits>;
}

/// Found among the extensions of a request. Whoever sent it was allowed in, and the sandbox runs.
#[derive(Debug)]
pub(crate) struct Target<D> {
    pub(crate) lease: Arc<Lease>,
    pub(crate) details: Arc<D>,
    pub(crate) container: Arc<Container>,
    /// What the key of its maker may do, as it was when the request came.
    pub(crate) limits: Arc<KeyLimits>,
    pub(crate) asked: Asked,
    pub(crate) runs: Runs,
}

impl<D> Clone for Target<D> {
    fn clone(&self) -> Self {
        Self {
            lease: Arc::clone(&self.lease),
            details: Arc::clone(&self.details),
            container: Arc::clone(&self.container),
            limits: Arc::clone(&self.limits),
            asked: self.asked.clone(),
            runs: self.runs.clone(),
        }
    }
}

impl<D: Lent> Target<D> {
    /// Runs code in the name of its maker.
    pub(crate) async fn run(&self, request: ExecuteRequest) -> sandgate_core::Result<Running> {
        self.runs.code(&self.asked, &self.borrower(), &self.container, request).await
    }

    /// The same for a command.
    pub(crate) async fn start(&self, process: StartProcess) -> sandgate_core::Result<Joined> {
        self.runs.command(&self.asked, &self.borrower(), &self.container, process).await
    }

    fn borrower(&self) -> Borrower<'_> {
        Borrower { owner: &self.lease.owner, key: self.details.key(), limits: &self.limits, door: D::DOOR }
    }

    /// The running sandbox, started again over its files when it was lost.
    pub(crate) async fn sandbox(&self) -> sandgate_core::Result<Arc<dyn Sandbox>> {
        self.container.sandbox_within(&self.limits).await
    }
}
