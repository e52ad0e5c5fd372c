//! Work on one thing that goes one after the other, whoever else works on other things.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sandgate_core::Owner;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// Those under way, so that the second waits for the first. They are forgotten when they are over.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns(Arc<Mutex<UnderWay>>);

/// By owner and name.
type UnderWay = HashMap<(Owner, String), Arc<AsyncMutex<()>>>;

/// Nobody else works under this name meanwhile.
#[derive(Debug)]
pub(crate) struct Turn {
    of: Turns,
    key: (Owner, String),
    guard: Option<OwnedMutexGuard<()>>,
}

impl Turns {
    pub(crate) async fn turn(&self, owner: &Owner, key: &str) -> Turn {
        let key = (owner.clone(), key.to_owned());
        let lock = Arc::clone(self.lock().entry(key.clone()).or_default());
        let guard = Some(lock.lock_owned().await);
        Turn { of: self.clone(), key, guard }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, UnderWay> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.guard.take();
        let mut all = self.of.lock();
        if all.get(&self.key).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            all.remove(&self.key);
        }
    }
}
