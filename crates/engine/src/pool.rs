//! Sandboxes made ahead, so that a new one is only handed over: some with a kernel that is forked, confined,
//! limited and rehearsed, and behind them some that are only namespaces.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sandgate_core::{BackendError, BackendStats, Limits, Result, SandboxSpec};
use tokio::sync::Notify;

use crate::sandbox::EngineSandbox;
use crate::shared::{Shared, blocking};

/// How long after a claim the machine is left to it.
const COURTESY: Duration = Duration::from_millis(30);

#[derive(Debug)]
pub(crate) struct Pool {
    /// With a kernel.
    warm: Shelf,
    /// Without one.
    cold: Shelf,
    spec: SandboxSpec,
    wanted: Notify,
    last_claim: Mutex<Option<Instant>>,
    counts: Counts,
}

/// Claims since the start, by what they got.
#[derive(Debug, Default)]
struct Counts {
    warm: AtomicU64,
    cold: AtomicU64,
    none: AtomicU64,
}

#[derive(Debug)]
struct Shelf {
    target: usize,
    ready: Mutex<VecDeque<EngineSandbox>>,
}

impl Shelf {
    fn new(target: usize) -> Self {
        Self { target, ready: Mutex::default() }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<EngineSandbox>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<EngineSandbox> {
        self.lock().pop_front()
    }

    fn put(&self, sandbox: EngineSandbox) {
        self.lock().push_back(sandbox);
    }

    fn lacks(&self) -> bool {
        self.lock().len() < self.target
    }

    /// Less than half of what should be there.
    fn runs_low(&self) -> bool {
        self.lock().len() * 2 < self.target
    }
}

impl Pool {
    pub(crate) fn new(warm: usize, cold: usize, spec: SandboxSpec) -> Arc<Self> {
        let (warm, cold) = (Shelf::new(warm), Shelf::new(cold));
        Arc::new(Self {
            warm,
            cold,
            spec,
            wanted: Notify::new(),
            last_claim: Mutex::default(),
            counts: Counts::default(),
        })
    }

    /// A ready one, if it can become what `spec` asks for: some limits are fixed when it is made.
    pub(crate) fn claim(&self, spec: &SandboxSpec, by_groups: bool) -> Option<EngineSandbox> {
        let fixed = |limits: &Limits| {
            // A control group's limits can still be changed, a process's own cannot.
            let memory = if by_groups { 0 } else { limits.memory_bytes };
            (limits.tmp_bytes, limits.open_files, limits.disk_bytes, limits.processes, memory)
        };
        if fixed(&spec.limits) != fixed(&self.spec.limits) {
            self.counts.none.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let (claimed, count) = match self.warm.take() {
            Some(warm) => (Some(warm), &self.counts.warm),
            None => match self.cold.take() {
                Some(cold) => (Some(cold), &self.counts.cold),
                None => (None, &self.counts.none),
            },
        };
        count.fetch_add(1, Ordering::Relaxed);
        *self.last_claim.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        self.wanted.notify_one();
        claimed
    }

    /// How many with a kernel are ready now.
    pub(crate) fn ready(&self) -> usize {
        self.warm.lock().len()
    }

    pub(crate) fn stats(&self) -> BackendStats {
        BackendStats {
            ready_warm: self.warm.lock().len(),
            ready_cold: self.cold.lock().len(),
            claimed_warm: self.counts.warm.load(Ordering::Relaxed),
            claimed_cold: self.counts.cold.load(Ordering::Relaxed),
            misses: self.counts.none.load(Ordering::Relaxed),
        }
    }

    /// Keeps both shelves full until the engine ends.
    pub(crate) async fn keep_full(self: Arc<Self>, shared: Arc<Shared>) {
        while !shared.tasks.is_closed() {
            self.let_claimed_ones_start().await;
            let made = if self.warm.lacks() {
                self.add_warm(&shared).await
            } else if self.cold.lacks() {
                make_cold(&shared, self.spec.clone()).await.map(|sandbox| self.cold.put(sandbox))
            } else {
                self.wanted.notified().await;
                continue;
            };
            if let Err(error) = made
                && !shared.tasks.is_closed()
            {
                tracing::warn!(%error, "a sandbox for the pool could not be made");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }

    /// Whoever has just claimed a sandbox is about to run code in it: making the next one can wait for that,
    /// unless there are few left.
    async fn let_claimed_ones_start(&self) {
        let last = *self.last_claim.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = last
            && !self.warm.runs_low()
            && !self.cold.runs_low()
        {
            tokio::time::sleep(COURTESY.saturating_sub(last.elapsed())).await;
        }
    }

    async fn add_warm(&self, shared: &Arc<Shared>) -> Result<()> {
        let sandbox = match self.cold.take() {
            Some(sandbox) => sandbox,
            None => make_cold(shared, self.spec.clone()).await?,
        };
        match sandbox.warm_up().await {
            Ok(()) => {
                self.warm.put(sandbox);
                Ok(())
            }
            Err(error) => {
                sandbox.discard().await;
                Err(error)
            }
        }
    }

    /// Wakes [`Self::keep_full`] so that it sees the engine's end.
    pub(crate) fn wake(&self) {
        self.wanted.notify_one();
    }

    /// Takes out all that is ready.
    pub(crate) fn drain(&self) -> Vec<EngineSandbox> {
        let mut all: Vec<_> = self.warm.lock().drain(..).collect();
        all.extend(self.cold.lock().drain(..));
        all
    }
}

/// A new sandbox over an empty volume, with nothing running in it yet.
pub(crate) async fn make_cold(shared: &Arc<Shared>, spec: SandboxSpec) -> Result<EngineSandbox> {
    let engine = Arc::clone(shared);
    blocking(move || {
        let volume = engine.volumes.make().map_err(|error| BackendError::Engine(error.to_string()))?;
        let made = EngineSandbox::make(Arc::clone(&engine), volume.clone(), spec, /* revived */ false);
        if made.is_err()
            && let Err(error) = engine.volumes.remove(&volume)
        {
            tracing::warn!(%error, "the files of a sandbox that could not be made are left");
        }
        made
    })
    .await?
}
