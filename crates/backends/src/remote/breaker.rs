//! A switch before a provider that is down: after some failures in a row nobody waits for it any more, until
//! one request at a time has found it well again. Only what the provider itself was asked counts, and not what
//! went wrong with one of its sandboxes: code in there could close it for everybody.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::{ProviderError, ProviderResult};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerConfig {
    /// So many failures in a row open it.
    pub failures: u32,
    /// For so long.
    pub rest: Duration,
}

impl Default for BreakerConfig {
    fn default() -> Self {
        Self { failures: 5, rest: Duration::from_secs(15) }
    }
}

#[derive(Debug)]
pub(super) struct Breaker {
    config: BreakerConfig,
    state: Mutex<State>,
    /// Since the start.
    failed: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    failures: u32,
    open_until: Option<Instant>,
    /// Somebody tries it out since then.
    trying: Option<Instant>,
    last: Option<String>,
}

/// Why nobody is let through.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Open {
    pub(super) why: String,
    pub(super) left: Duration,
}

impl Breaker {
    pub(super) fn new(config: BreakerConfig) -> Self {
        Self { config, state: Mutex::default(), failed: AtomicU64::new(0) }
    }

    /// Whether to ask the provider. After the rest one is let through to try; the others wait for what it finds.
    pub(super) fn check(&self) -> Result<(), Open> {
        let mut state = self.lock();
        let Some(until) = state.open_until else { return Ok(()) };
        let now = Instant::now();
        let tried_for_too_long =
            state.trying.is_none_or(|since| now.saturating_duration_since(since) > self.config.rest);
        if now >= until && tried_for_too_long {
            state.trying = Some(now);
            return Ok(());
        }
        let left = until.saturating_duration_since(now).max(Duration::from_secs(1));
        let last = state.last.as_deref().unwrap_or("it failed");
        let why =
            format!("it failed {} times in a row and is not asked for now; last: {last}", state.failures);
        Err(Open { why, left })
    }

    /// For who asks somebody else than the provider: he finds out nothing about it.
    pub(super) fn check_without_trying(&self) -> Result<(), Open> {
        if self.is_closed() { Ok(()) } else { self.check() }
    }

    /// As `check` without a claim: for showing.
    pub(super) fn is_closed(&self) -> bool {
        self.lock().open_until.is_none_or(|until| Instant::now() >= until)
    }

    pub(super) fn heard<T>(&self, answer: ProviderResult<T>) -> ProviderResult<T> {
        match &answer {
            Err(error) if error.is_outage() => self.failed(error),
            // Said by the gate itself.
            Err(ProviderError::Unsupported(_)) => {}
            // Also a no is a sign of life.
            _ => *self.lock() = State::default(),
        }
        answer
    }

    /// All failures since the start.
    pub(super) fn count(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    pub(super) fn failed(&self, error: &ProviderError) {
        self.failed.fetch_add(1, Ordering::Relaxed);
        let mut state = self.lock();
        state.failures = state.failures.saturating_add(1);
        state.last = Some(error.to_string());
        if state.failures >= self.config.failures {
            state.open_until = Some(Instant::now() + self.config.rest);
        }
        state.trying = None;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "breaker_tests.rs"]
mod tests;
