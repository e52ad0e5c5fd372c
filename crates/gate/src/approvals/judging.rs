//! Where rules are applied to code: on threads of their own, never on more of them than the machine has
//! cores, and for one owner on fewer still. Some texts are made to take long to read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sandgate_core::{Owner, Shares};
use tokio::sync::Semaphore;

use super::facts::Facts;
use super::policy::{Next, Policy};
use super::{DecidedBy, Denial};

#[derive(Debug)]
pub(super) struct Judging {
    room: Arc<Semaphore>,
    owners: Shares,
    /// What one owner may have of the room.
    share: u32,
}

impl Default for Judging {
    fn default() -> Self {
        Self::with_room(std::thread::available_parallelism().map_or(2, |cores| cores.get().max(2)))
    }
}

impl Judging {
    fn with_room(room: usize) -> Self {
        let share = u32::try_from(room / 2).unwrap_or(u32::MAX).max(1);
        Self { room: Arc::new(Semaphore::new(room)), owners: Shares::default(), share }
    }

    /// A rule that brings its thread down denies. Dropping the future ends the work soon, and only the end
    /// of the work gives its place to another.
    pub(super) async fn judge(
        &self,
        owner: &Owner,
        policy: Arc<Policy>,
        mut facts: Facts,
    ) -> Result<(Arc<Facts>, Next), Denial> {
        let share = self.owners.wait(owner, Some(self.share)).await;
        let permit = Arc::clone(&self.room).acquire_owned().await.map_err(|_| not_judged())?;
        let left = Left::default();
        let has_left = left.flag();
        let judged = tokio::task::spawn_blocking(move || {
            let _held = (share, permit);
            let next = policy.judge(&mut facts, &has_left);
            (Arc::new(facts), next)
        });
        judged.await.map_err(|error| {
            tracing::error!(%error, "the rules failed: the code is denied");
            not_judged()
        })
    }
}

pub(super) fn not_judged() -> Denial {
    Denial::new(DecidedBy::Default, "it could not be judged")
}

/// Dropped, it says so.
#[derive(Debug, Default)]
struct Left(Arc<AtomicBool>);

impl Left {
    fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
#[path = "judging_tests.rs"]
mod tests;
