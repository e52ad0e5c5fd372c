//! Which paused sandboxes hold memory: a bounded number for each owner, the oldest go first.
//!
//! A pause is not refused past the bound: many come when a time is over, with nobody there to be told, and a sandbox
//! that may not be paused would go on running, which costs more.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::Owner;

/// Of one owner.
pub(super) const MOST: usize = 32;

/// Ids of leases, in the order in which they were paused.
#[derive(Debug, Default)]
pub(super) struct Frozen(Mutex<HashMap<Owner, VecDeque<String>>>);

impl Frozen {
    /// Gives those that are to give up their memory for it.
    pub(super) fn add(&self, owner: &Owner, id: &str) -> Vec<String> {
        let mut all = self.lock();
        let its = all.entry(owner.clone()).or_default();
        its.retain(|other| other != id);
        its.push_back(id.to_owned());
        let too_many = its.len().saturating_sub(MOST);
        its.drain(..too_many).collect()
    }

    pub(super) fn remove(&self, owner: &Owner, id: &str) {
        let mut all = self.lock();
        let Some(its) = all.get_mut(owner) else { return };
        its.retain(|other| other != id);
        if its.is_empty() {
            all.remove(owner);
        }
    }

    pub(super) fn has(&self, owner: &Owner, id: &str) -> bool {
        self.lock().get(owner).is_some_and(|its| its.iter().any(|other| other == id))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Owner, VecDeque<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
