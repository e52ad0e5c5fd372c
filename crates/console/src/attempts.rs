//! How often wrong keys are taken note of. They share one measure, as who asks from where is not known behind a
//! proxy; the right key is never measured, so that nobody can keep others out. What stops guessing is the length of
//! keys: the doors take them too, without any measure.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Wrong tries in a row that cost nothing.
const AT_ONCE: f64 = 10.0;
/// After them, one in so many seconds.
const EVERY: f64 = 6.0;

#[derive(Debug, Default)]
pub(crate) struct Attempts(Mutex<Option<Bucket>>);

#[derive(Clone, Copy, Debug)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl Attempts {
    /// Counts a wrong try; how long to wait, where there were too many.
    pub(crate) fn take(&self) -> Result<(), Duration> {
        self.take_at(Instant::now())
    }

    fn take_at(&self, now: Instant) -> Result<(), Duration> {
        let mut bucket = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Bucket { left, at } = bucket.unwrap_or(Bucket { left: AT_ONCE, at: now });
        let left = (left + now.saturating_duration_since(at).as_secs_f64() / EVERY).min(AT_ONCE);
        let is_allowed = left >= 1.0;
        *bucket = Some(Bucket { left: if is_allowed { left - 1.0 } else { left }, at: now });
        if is_allowed { Ok(()) } else { Err(Duration::from_secs_f64((1.0 - left) * EVERY)) }
    }
}

#[cfg(test)]
#[path = "attempts_tests.rs"]
mod tests;
