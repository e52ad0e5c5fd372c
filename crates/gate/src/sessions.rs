//! Sessions: a client that names one (`metadata.session_id`, as LiteLLM has it) goes on in the container of
//! its last request, without sending back what was said.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use sandgate_core::Owner;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// Locks that nobody holds are looked for above this number.
const MANY_LOCKS: usize = 1024;

/// The field that means something to LiteLLM alone.
const LITELLM: &str = "litellm_metadata";

/// What a request calls its session. The text may be anything, and of any length; what is kept is its digest.
pub(crate) fn session_in(body: &Map<String, Value>) -> Option<String> {
    let named = |place: &str| body.get(place)?.get("session_id")?.as_str().filter(|name| !name.is_empty());
    let name = named("metadata").or_else(|| named(LITELLM))?;
    Some(Sha256::digest(name.as_bytes()).iter().take(16).map(|byte| format!("{byte:02x}")).collect())
}

/// Takes out what no upstream knows.
pub(crate) fn forget_session(body: &mut Map<String, Value>) {
    body.shift_remove(LITELLM);
}

/// A lock for each session, so that requests at the same time share a container instead of making several.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionLocks(Arc<Mutex<Locks>>);

/// By owner and session; gone when nobody holds or awaits them.
type Locks = HashMap<(Owner, String), Weak<AsyncMutex<()>>>;

impl SessionLocks {
    pub(crate) async fn lock(&self, owner: &Owner, session: &str) -> OwnedMutexGuard<()> {
        self.of(owner, session).lock_owned().await
    }

    fn of(&self, owner: &Owner, session: &str) -> Arc<AsyncMutex<()>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() > MANY_LOCKS {
            all.retain(|_, lock| lock.strong_count() > 0);
        }
        let place = all.entry((owner.clone(), session.to_owned())).or_default();
        place.upgrade().unwrap_or_else(|| {
            let lock = Arc::default();
            *place = Arc::downgrade(&lock);
            lock
        })
    }
}

#[cfg(test)]
#[path = "sessions_tests.rs"]
mod tests;
