//! Requests per minute: a bucket for each key that fills steadily and holds a minute's worth.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

#[derive(Debug, Default)]
pub(super) struct Rates(Mutex<HashMap<String, Bucket>>);

#[derive(Clone, Copy, Debug)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl Rates {
    /// One request of this key. Refused: how long until there is room for one.
    pub(super) fn take(&self, key: &str, per_minute: u32) -> Result<(), Duration> {
        self.take_at(Instant::now(), key, per_minute)
    }

    fn take_at(&self, now: Instant, key: &str, per_minute: u32) -> Result<(), Duration> {
        let most = f64::from(per_minute);
        let per_second = most / 60.0;
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // By keys of the store only, so there are never more of them than of those.
        let bucket = all.entry(key.to_owned()).or_insert(Bucket { left: most, at: now });
        let gained = now.saturating_duration_since(bucket.at).as_secs_f64() * per_second;
        bucket.at = now;
        // The limit may have been changed since.
        bucket.left = (bucket.left + gained).min(most);
        if bucket.left >= 1.0 {
            bucket.left -= 1.0;
            return Ok(());
        }
        Err(Duration::from_secs_f64((1.0 - bucket.left) / per_second))
    }
}

#[cfg(test)]
#[path = "rates_tests.rs"]
mod tests;
