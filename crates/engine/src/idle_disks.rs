//! Watches the disks of sandboxes in which nothing is executed: background processes may write on.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use sandgate_core::SandboxId;

use crate::shared::Shared;

/// How often a sandbox is looked at.
const INTERVAL: Duration = Duration::from_secs(2);
/// At most one part in so many of the time goes into looks at one sandbox: a large tree takes long to walk. It
/// is that sandbox alone that is looked at more rarely then.
const SHARE: u32 = 20;
/// How long the end of the engine may go unnoticed.
const NAP: Duration = Duration::from_millis(100);

/// Goes on until the engine ends. One look at a time, so that all of them together take one processor at most.
pub(crate) async fn watch_disks(shared: Arc<Shared>) {
    let mut turns = Turns::default();
    while !shared.tasks.is_closed() {
        let live: HashMap<_, _> = {
            let sandboxes = shared.sandboxes.lock().unwrap_or_else(PoisonError::into_inner);
            sandboxes.iter().map(|(id, sandbox)| (id.clone(), Arc::clone(sandbox))).collect()
        };
        for id in turns.due(live.keys(), Instant::now()) {
            if shared.tasks.is_closed() {
                return;
            }
            let (Some(sandbox), started) = (live.get(&id), Instant::now()) else { continue };
            sandbox.watch_disk_while_idle().await;
            turns.looked(id, started.elapsed(), Instant::now());
            // Hundreds of short looks in a row would hold up whoever waits for this thread.
            tokio::task::yield_now().await;
        }
        tokio::time::sleep(NAP).await;
    }
}

/// When each sandbox is to be looked at next.
#[derive(Debug, Default)]
struct Turns(HashMap<SandboxId, Instant>);

impl Turns {
    /// Those whose time has come, who waited longest first. A new one gets its first turn an interval from now.
    fn due<'a>(&mut self, live: impl Iterator<Item = &'a SandboxId>, now: Instant) -> Vec<SandboxId> {
        let before = std::mem::take(&mut self.0);
        self.0 = live.map(|id| (id.clone(), before.get(id).copied().unwrap_or(now + INTERVAL))).collect();
        let mut due: Vec<_> = self.0.iter().filter(|(_, at)| **at <= now).collect();
        due.sort_by_key(|(_, at)| **at);
        due.into_iter().map(|(id, _)| id.clone()).collect()
    }

    fn looked(&mut self, id: SandboxId, took: Duration, now: Instant) {
        self.0.insert(id, now + INTERVAL.max(took * SHARE));
    }
}

#[cfg(test)]
#[path = "idle_disks_tests.rs"]
mod tests;
