//! Room for live sandboxes: the server's as a whole, and of it each owner's.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{BackendError, Owner, Result, Share, Shares};

/// Room for live sandboxes; each takes a place while it lives.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) free: Arc<Semaphore>,
    pub(super) all: usize,
    pub(super) by_owner: Shares,
}

#[derive(Debug)]
pub(super) struct Place {
    _of_owner: Share,
    _of_server: OwnedSemaphorePermit,
}

impl Places {
    /// At once or not at all: a hidden queue would only look like a slow server.
    pub(super) fn take(&self, owner: &Owner, most: Option<u32>) -> Result<Place> {
        let of_owner = self.by_owner.take(owner, most);
        let of_owner = of_owner.ok_or(BackendError::TooManySandboxes { limit: most.unwrap_or(u32::MAX) })?;
        let of_server = Arc::clone(&self.free).try_acquire_owned();
        let of_server = of_server.map_err(|_| BackendError::Full { limit: self.all })?;
        Ok(Place { _of_owner: of_owner, _of_server: of_server })
    }
}
