//! Keeps remote sandboxes alive while the gate uses them, and removes those that carry its name and that nobody
//! knows of: left by a crash, or by a provider that was not there when they should have been deleted.

use std::sync::Arc;
use std::time::Duration;

use sandgate_core::{Result, SandboxId};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::shared::{SANDBOX, Shared};
use crate::Found;

/// How often it is looked for what nobody knows of.
const REAP_EVERY: Duration = Duration::from_secs(5 * 60);
/// An end is moved when a third of the time has passed, but not more often than this.
const LEAST_PAUSE: Duration = Duration::from_secs(5);

pub(super) async fn keep(shared: &Arc<Shared>) {
    let mut ticks = interval((shared.life() / 3).max(LEAST_PAUSE));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut reaped: Option<Instant> = None;
    loop {
        ticks.tick().await;
        if reaped.is_none_or(|at| at.elapsed() >= REAP_EVERY) {
            match reap(shared).await {
                Ok(0) => {}
                Ok(count) => {
                    tracing::info!(backend = shared.name(), count, "removed remote sandboxes left behind")
                }
                Err(error) => {
                    tracing::warn!(backend = shared.name(), %error, "remote sandboxes left behind were not looked for");
                }
            }
            reaped = Some(Instant::now());
        }
        let live: Vec<_> = shared.known().values().filter_map(|known| known.live.clone()).collect();
        let mut extended = JoinSet::new();
        for sandbox in live {
            extended.spawn(async move { sandbox.keep_alive().await });
        }
        extended.join_all().await;
    }
}

pub(super) async fn reap(shared: &Shared) -> Result<usize> {
    let ours = shared.owned_by_us();
    let found = shared.ask(shared.provider.find(&ours)).await?;
    let mut count = 0;
    for place in found {
        // Whatever the provider's list says: what does not carry our name is not ours.
        let is_ours = ours.iter().all(|(key, value)| place.metadata.get(key) == Some(value));
        if is_ours && !is_known(shared, &place) {
            shared.ask(shared.provider.delete(&place.id)).await?;
            count += 1;
        }
    }
    Ok(count)
}

fn is_known(shared: &Shared, place: &Found) -> bool {
    let Some(id) = place.metadata.get(SANDBOX).and_then(|id| SandboxId::parse(id).ok()) else { return false };
    let known = shared.known();
    known.get(&id).is_some_and(|known| known.making || known.place.as_ref() == Some(&place.id))
}
