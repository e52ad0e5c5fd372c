//! What all sandboxes of a server hold together, which is bounded whatever each of them may have.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::pipes::Pipes;

#[derive(Debug)]
pub(crate) struct Crowd {
    pub(crate) limit: u32,
    connections: Arc<Semaphore>,
    /// Connections from inside, each of which costs something before it is known what it wants.
    served: Arc<Semaphore>,
    pub(crate) pipes: Arc<Pipes>,
}

impl Crowd {
    pub(crate) fn new(limit: u32) -> Self {
        let most = usize::try_from(limit).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS / 2);
        let places = |count| Arc::new(Semaphore::new(count));
        Self { limit, connections: places(most), served: places(most * 2), pipes: Arc::default() }
    }

    /// For a connection to the outside; None: there are too many.
    pub(crate) fn connection(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.connections).try_acquire_owned().ok()
    }

    /// For a connection from inside; waits until there is one.
    pub(crate) async fn served(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.served).acquire_owned().await.ok()
    }
}
