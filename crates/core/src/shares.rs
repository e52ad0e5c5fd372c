//! How much of something each owner has at the moment: counted while it is held.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::Owner;

#[derive(Clone, Debug, Default)]
pub struct Shares(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// Owners that hold nothing are not in it.
    held: Mutex<HashMap<Owner, u32>>,
    given_back: Notify,
}

/// One that is held; dropping it gives it back.
#[derive(Debug)]
pub struct Share {
    owner: Owner,
    of: Arc<Inner>,
}

impl Shares {
    /// One more for `owner`, unless it has `most` already.
    #[must_use]
    pub fn take(&self, owner: &Owner, most: Option<u32>) -> Option<Share> {
        let mut held = self.0.lock();
        let count = held.entry(owner.clone()).or_default();
        if most.is_some_and(|most| *count >= most) {
            if *count == 0 {
                held.remove(owner);
            }
            return None;
        }
        *count += 1;
        Some(Share { owner: owner.clone(), of: Arc::clone(&self.0) })
    }

    /// Waits until there is one.
    pub async fn wait(&self, owner: &Owner, most: Option<u32>) -> Share {
        loop {
            let given_back = self.0.given_back.notified();
            let mut given_back = std::pin::pin!(given_back);
            // Before looking, so that nothing given back in between is missed.
            given_back.as_mut().enable();
            if let Some(share) = self.take(owner, most) {
                return share;
            }
            given_back.await;
        }
    }

    /// Whether `take` would say no.
    #[must_use]
    pub fn are_taken(&self, owner: &Owner, most: Option<u32>) -> bool {
        let held = self.0.lock().get(owner).copied().unwrap_or(0);
        most.is_some_and(|most| held >= most)
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, HashMap<Owner, u32>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut held = self.of.lock();
        if let Some(count) = held.get_mut(&self.owner) {
            *count -= 1;
            if *count == 0 {
                held.remove(&self.owner);
            }
        }
        drop(held);
        self.of.given_back.notify_waiters();
    }
}

#[cfg(test)]
#[path = "shares_tests.rs"]
mod tests;
