//! What all sandboxes of a server hold together, which is bounded whatever each of them may have.

use std::sync::Arc;

use rustix::process::{Resource, getrlimit};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::buffers::WidePlaces;
use crate::pipes::Pipes;

const LEAST_SHARE: usize = 8;

#[derive(Debug)]
pub(crate) struct Crowd {
    pub(crate) limit: u32,
    connections: Arc<Semaphore>,
    /// Connections from inside, each of which costs something before it is known what it wants.
    served: Arc<Semaphore>,
    wide: WidePlaces,
    pub(crate) pipes: Arc<Pipes>,
}

/// Of one connection to the outside.
#[derive(Debug)]
pub(crate) struct Place {
    _permit: OwnedSemaphorePermit,
    pub(crate) wide: WidePlaces,
}

impl Crowd {
    /// `limit` is what the operator says; what the server can hold open bounds it too.
    pub(crate) fn new(limit: u32) -> Self {
        let files = getrlimit(Resource::Nofile).current;
        let fitting = fitting(limit, files);
        if fitting < limit {
            tracing::warn!(
                limit,
                fitting,
                "this server may open too few files for so many connections of sandboxes; raise its limit of open \
                 files (ulimit -n)"
            );
        }
        Self::of(fitting)
    }

    fn of(limit: u32) -> Self {
        let most = usize::try_from(limit).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS / 2);
        let places = |count| Arc::new(Semaphore::new(count));
        let (connections, served) = (places(most), places(most * 2));
        Self { limit, connections, served, wide: WidePlaces::of_all(), pipes: Arc::default() }
    }

    /// For a connection to the outside; None: there are too many.
    pub(crate) fn connection(&self) -> Option<Place> {
        let permit = Arc::clone(&self.connections).try_acquire_owned().ok()?;
        Some(Place { _permit: permit, wide: self.wide.clone() })
    }

    /// A quarter of the places of [`Self::served`], for one sandbox: there are others. With fewer than a few, programs
    /// would wait for themselves.
    pub(crate) fn share(&self) -> usize {
        usize::try_from(self.limit / 2).unwrap_or(usize::MAX).max(LEAST_SHARE)
    }

    /// For a connection from inside; waits until there is one.
    pub(crate) async fn served(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.served).acquire_owned().await.ok()
    }
}

/// A connection is one descriptor, and there may be two from inside for each. So a quarter of what may be open leaves
/// the last quarter to the API and to the sandboxes themselves, which would otherwise stand still with them.
fn fitting(limit: u32, files: Option<u64>) -> u32 {
    let share = files.and_then(|files| u32::try_from(files / 4).ok()).unwrap_or(u32::MAX);
    limit.min(share.max(1))
}

#[cfg(test)]
#[path = "crowd_tests.rs"]
mod tests;
