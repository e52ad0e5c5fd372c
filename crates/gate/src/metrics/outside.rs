//! How long a request was waiting for somebody else. Waits may overlap, as when a client reads slowly while
//! the model writes; what counts is the time in which at least one went on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Whom a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Model,
    Sandbox,
    Approval,
    Client,
}

#[derive(Debug, Default)]
pub(super) struct Clock(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Waits under way.
    depth: u32,
    since: Option<Instant>,
    sum: Duration,
    places: [Duration; 4],
}

impl Clock {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All waits so far, each moment counted once.
    pub(super) fn sum(&self) -> Duration {
        let state = self.lock();
        state.sum + state.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Waits for one place that are over.
    pub(super) fn place(&self, place: Place) -> Duration {
        self.lock().places[place as usize]
    }
}

/// A wait; it ends when this is dropped.
#[derive(Debug)]
pub struct Outside {
    clock: Option<Arc<Clock>>,
    place: Place,
    began: Instant,
}

impl Outside {
    pub(super) fn begin(clock: Option<Arc<Clock>>, place: Place) -> Self {
        let began = Instant::now();
        if let Some(clock) = &clock {
            let mut state = clock.lock();
            state.depth += 1;
            state.since.get_or_insert(began);
        }
        Self { clock, place, began }
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        let Some(clock) = &self.clock else { return };
        let mut state = clock.lock();
        state.depth = state.depth.saturating_sub(1);
        state.places[self.place as usize] += self.began.elapsed();
        if state.depth == 0
            && let Some(since) = state.since.take()
        {
            state.sum += since.elapsed();
        }
    }
}
