//! The disk limit for whatever goes through the agent. Files from outside take their room before they are written,
//! all out of one account; and while anything may write, the disk itself is looked at, for an agent and the links
//! inside a sandbox are not to be believed.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sandgate_core::{BackendError, Result, SandboxPath};

use crate::files::walk::DiskUsage;
use crate::sandbox::EngineSandbox;

/// As often as during an execution.
const INTERVAL: Duration = Duration::from_millis(250);
/// At most one part in so many of the time goes into looking.
const SHARE: u32 = 20;
/// What an entry takes besides its content, at most.
const BLOCK: u64 = 4096;
/// Below these what is written counts as the sandbox's disk, unless a link leads elsewhere.
const ON_DISK: [&str; 2] = ["/mnt/data", "/home/user"];

pub(super) fn is_on_disk(path: &SandboxPath) -> bool {
    let below = |rest: &str| rest.is_empty() || rest.starts_with('/');
    ON_DISK.iter().any(|place| path.as_str().strip_prefix(place).is_some_and(below))
}

/// What changes from outside have taken since the disk was last looked at.
#[derive(Debug, Default)]
pub(crate) struct Account(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    under_way: usize,
    /// As it was seen; None: nothing is under way, and it is to be looked at again.
    seen: Option<DiskUsage>,
    /// Ever.
    taken: DiskUsage,
    /// Of that, what was taken before the look began that saw it so.
    counted: DiskUsage,
}

impl Account {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_busy(&self) -> bool {
        self.lock().under_way > 0
    }

    fn enter(&self) {
        self.lock().under_way += 1;
    }

    fn leave(&self) {
        let mut state = self.lock();
        state.under_way = state.under_way.saturating_sub(1);
        if state.under_way == 0 {
            state.seen = None;
        }
    }

    /// To be asked before the disk is looked at: what is taken meanwhile may not be on it.
    fn taken(&self) -> DiskUsage {
        self.lock().taken
    }

    /// `before`: what was taken when the look began. One that began earlier and took longer says nothing new.
    fn saw(&self, now: DiskUsage, before: DiskUsage) {
        let mut state = self.lock();
        let is_older = before.bytes < state.counted.bytes || before.entries < state.counted.entries;
        if state.seen.is_none() || !is_older {
            state.seen = Some(now);
            state.counted = before;
        }
    }

    /// Whether there was room for so much more.
    fn take(&self, more: DiskUsage, is_over: impl Fn(DiskUsage) -> bool) -> bool {
        let mut state = self.lock();
        let Some(seen) = state.seen else { return false };
        let taken = sum(state.taken, more);
        let fits = !is_over(sum(seen, since(taken, state.counted)));
        if fits {
            state.taken = taken;
        }
        fits
    }
}

fn sum(a: DiskUsage, b: DiskUsage) -> DiskUsage {
    DiskUsage { bytes: a.bytes.saturating_add(b.bytes), entries: a.entries.saturating_add(b.entries) }
}

fn since(now: DiskUsage, then: DiskUsage) -> DiskUsage {
    DiskUsage {
        bytes: now.bytes.saturating_sub(then.bytes),
        entries: now.entries.saturating_sub(then.entries),
    }
}

/// A change from outside under way, until this is dropped.
#[derive(Debug)]
pub(super) struct Changing(Arc<EngineSandbox>);

impl Changing {
    /// Makes sure that there is room for all that the path may need besides content.
    pub(super) async fn begin(sandbox: &Arc<EngineSandbox>, path: &SandboxPath) -> Result<Self> {
        sandbox.account.enter();
        let changing = Self(Arc::clone(sandbox));
        // Folders above it are made where they are not there.
        let entries = if is_on_disk(path) { path.as_str().split('/').count() as u64 } else { 0 };
        changing.take(path, DiskUsage { bytes: entries.saturating_mul(BLOCK), entries }).await?;
        sandbox.watch_disk();
        Ok(changing)
    }

    pub(super) async fn take_bytes(&self, path: &SandboxPath, bytes: u64) -> Result<()> {
        self.take(path, DiskUsage { bytes, entries: 0 }).await
    }

    async fn take(&self, path: &SandboxPath, more: DiskUsage) -> Result<()> {
        let Self(sandbox) = self;
        let is_over = |usage| sandbox.is_over(usage);
        if sandbox.account.take(more, is_over) {
            return Ok(());
        }
        // It may be long ago that the disk was looked at, and what was taken may have been given back.
        let before = sandbox.account.taken();
        let now = sandbox.disk_used().await;
        let now = now.ok_or_else(|| BackendError::Engine("the disk could not be looked at".into()))?;
        sandbox.account.saw(now, before);
        if sandbox.account.take(more, is_over) {
            Ok(())
        } else {
            Err(BackendError::NoSpace(path.to_string()))
        }
    }

    /// Why a change failed: one that was ended for the disk limit says so.
    pub(super) async fn explain(&self, path: &SandboxPath, error: BackendError) -> BackendError {
        match error {
            BackendError::Engine(_) if self.0.disk_used().await.is_some_and(|now| self.0.is_over(now)) => {
                BackendError::NoSpace(path.to_string())
            }
            other => other,
        }
    }
}

impl Drop for Changing {
    fn drop(&mut self) {
        self.0.account.leave();
    }
}

impl EngineSandbox {
    /// One watch at a time, as long as there are processes or changes from outside.
    pub(super) fn watch_disk(self: &Arc<Self>) {
        if self.disk_is_watched.swap(true, Ordering::AcqRel) {
            return;
        }
        let sandbox = Arc::clone(self);
        self.spawn(async move {
            sandbox.watch_while_something_writes().await;
            sandbox.disk_is_watched.store(false, Ordering::Release);
            // One may have been started after the last look and before this.
            if sandbox.something_writes() && !sandbox.is_stopped() {
                sandbox.watch_disk();
            }
        });
    }

    fn something_writes(&self) -> bool {
        !self.processes.is_empty() || self.account.is_busy()
    }

    async fn watch_while_something_writes(&self) {
        // One that is over the limit already may still run commands that make room.
        let mut least = self.disk_used().await;
        while !self.is_stopped() {
            // What was done by then is looked at once more, even if nothing writes any more.
            let was_last = !self.something_writes();
            let started = Instant::now();
            let now = self.disk_used().await;
            if let (Some(least), Some(now)) = (&mut least, now) {
                if self.is_over(now) && (now.bytes > least.bytes || now.entries > least.entries) {
                    self.end_agent("the disk limit was passed, and all commands were ended").await;
                    return;
                }
                least.bytes = least.bytes.min(now.bytes);
                least.entries = least.entries.min(now.entries);
            }
            if was_last {
                return;
            }
            tokio::time::sleep(INTERVAL.max(started.elapsed() * SHARE)).await;
        }
    }

    /// Ends the agent and whatever it started.
    pub(crate) async fn end_agent(&self, why: &str) {
        if let Some(agent) = self.agent.running().await {
            tracing::warn!(sandbox = %self.volume.id, why, "commands of a sandbox were ended");
            agent.end(why).await;
        }
    }
}

#[cfg(test)]
#[path = "disk_tests.rs"]
mod tests;
