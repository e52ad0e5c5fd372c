//! How often something may happen, with a short run of more after a quiet time.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So much of the future may be used at once.
const AHEAD: Duration = Duration::from_secs(2);

#[derive(Debug, Default)]
pub(crate) struct Rate {
    /// Until when what happened so far takes, at the allowed speed.
    used_until: Mutex<Option<Instant>>,
}

impl Rate {
    /// Whether it may happen once more, at `per_second`.
    pub(crate) fn allows(&self, per_second: u32) -> bool {
        self.allows_at(Instant::now(), per_second)
    }

    fn allows_at(&self, now: Instant, per_second: u32) -> bool {
        let mut used_until = self.used_until.lock().unwrap_or_else(PoisonError::into_inner);
        let start = used_until.map_or(now, |until| until.max(now));
        let until = start + Duration::from_secs(1) / per_second.max(1);
        let fits = until.duration_since(now) <= AHEAD;
        if fits {
            *used_until = Some(until);
        }
        fits
    }
}

#[cfg(test)]
#[path = "rate_tests.rs"]
mod tests;
