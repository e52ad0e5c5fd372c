//! What is remembered of each sandbox while it is lent: code, commands, shells and terminals that were started.
//! It goes when the sandbox does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::super::Door;
use super::code::Runs;
use super::command::Commands;
use super::pty::Terminals;
use super::session::Sessions;

#[derive(Debug, Default)]
pub(super) struct Place {
    pub(super) runs: Runs,
    pub(super) commands: Commands,
    pub(super) sessions: Sessions,
    pub(super) terminals: Terminals,
}

type All = Mutex<HashMap<String, Arc<Place>>>;

#[derive(Clone, Debug, Default)]
pub(super) struct Places(Arc<All>);

impl Places {
    /// None: the lease has ended.
    pub(super) fn of(&self, door: &Door, lease: &str) -> Option<Arc<Place>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = all.get(lease) {
            return Some(Arc::clone(place));
        }
        let gone = door.leases.gone(lease)?;
        let place = Arc::new(Place::default());
        all.insert(lease.to_owned(), Arc::clone(&place));
        tokio::spawn(forget(Arc::downgrade(&self.0), lease.to_owned(), gone));
        Some(place)
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

async fn forget(all: Weak<All>, lease: String, mut gone: tokio::sync::watch::Receiver<bool>) {
    // An error means that the server is ending.
    let _ = gone.wait_for(|gone| *gone).await;
    if let Some(all) = all.upgrade() {
        all.lock().unwrap_or_else(PoisonError::into_inner).remove(&lease);
    }
}

/// Whoever panicked with it left nothing half done.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
