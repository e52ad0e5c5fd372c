//! Keeps remote sandboxes alive while the gate uses them, and removes those that carry its name and that nobody
//! knows of: left by a crash, or by a provider that was not there when they should have been deleted.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use sandgate_core::{Result, SandboxId};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::shared::{SANDBOX, Shared};
use crate::Found;

/// How often it is looked for what nobody knows of.
const REAP_EVERY: Duration = Duration::from_secs(5 * 60);
/// An end is moved when a third of the time has passed, but not more often than this.
const LEAST_PAUSE: Duration = Duration::from_secs(5);
/// Deleted at the same time.
const AT_ONCE: usize = 8;

/// Each in a loop of its own: a long list must not keep the living waiting.
pub(super) async fn keep(shared: &Arc<Shared>) {
    tokio::join!(keep_alive(shared), keep_clean(shared));
}

async fn keep_alive(shared: &Arc<Shared>) {
    let usual = (shared.life() / 3).max(LEAST_PAUSE);
    loop {
        let all_well = extend_all(shared, usual).await;
        // Whose end was not moved has two thirds of its time left, and is tried again before that is over.
        sleep(if all_well { usual } else { usual.min(LEAST_PAUSE * 2) }).await;
    }
}

/// Whether every end was moved. One that hangs holds up no other for longer than `most`.
pub(super) async fn extend_all(shared: &Arc<Shared>, most: Duration) -> bool {
    let live: Vec<_> = shared.known().values().filter_map(|known| known.live.clone()).collect();
    let mut extended = JoinSet::new();
    for sandbox in live {
        extended.spawn(async move {
            timeout(most, sandbox.keep_alive()).await.unwrap_or_else(|_| {
                tracing::warn!(sandbox = %sandbox.0.id, "a remote sandbox could not be kept alive in time");
                false
            })
        });
    }
    extended.join_all().await.into_iter().all(|moved| moved)
}

async fn keep_clean(shared: &Arc<Shared>) {
    loop {
        match reap(shared).await {
            Ok(0) => {}
            Ok(count) => {
                tracing::info!(backend = shared.name(), count, "removed remote sandboxes left behind")
            }
            Err(error) => {
                tracing::warn!(backend = shared.name(), %error, "remote sandboxes left behind were not looked for");
            }
        }
        sleep(REAP_EVERY).await;
    }
}

/// What cannot be deleted stays for the next round, and keeps nothing else from being deleted.
pub(super) async fn reap(shared: &Shared) -> Result<usize> {
    let ours = shared.owned_by_us();
    let found = shared.ask(shared.provider.find(&ours)).await?;
    // Whatever the provider's list says: what does not carry our name is not ours.
    let is_ours = |place: &Found| ours.iter().all(|(key, value)| place.metadata.get(key) == Some(value));
    let left = found.into_iter().filter(|place| is_ours(place) && !is_known(shared, place));
    let deleted = stream::iter(left).map(|place| async move {
        // Again, and last: while others were deleted, somebody may have come to know it.
        if is_known(shared, &place) {
            return false;
        }
        let gone = shared.ask(shared.provider.delete(&place.id)).await;
        if let Err(error) = &gone {
            tracing::warn!(backend = shared.name(), place = %place.id, %error, "a remote sandbox left behind is still there");
        }
        gone.is_ok()
    });
    Ok(deleted.buffer_unordered(AT_ONCE).filter(|gone| std::future::ready(*gone)).count().await)
}

fn is_known(shared: &Shared, place: &Found) -> bool {
    let Some(id) = place.metadata.get(SANDBOX).and_then(|id| SandboxId::parse(id).ok()) else { return false };
    let known = shared.known();
    known.get(&id).is_some_and(|known| known.making || known.place.as_ref() == Some(&place.id))
}

#[cfg(test)]
#[path = "reaper_tests.rs"]
mod tests;
