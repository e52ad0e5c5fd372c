//! Counts what a sandbox sends and receives, and slows it down where that is bounded.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::OwnedSemaphorePermit;

use crate::denied::{NoConnection, Wanted};
use crate::observer::{Seen, SeenVerdict};
use crate::{Observer, Way};

/// One sandbox's use of the network, over all its connections.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    open: AtomicU32,
    spent: AtomicU64,
    /// Until when the bytes so far take, at the allowed speed.
    paid_until: Mutex<Option<Instant>>,
}

/// So much may come at once after a pause.
const BURST: Duration = Duration::from_millis(200);

impl Meter {
    pub(crate) fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }

    /// How long to wait after `bytes` more, at most `speed` of them per second.
    pub(crate) fn take(&self, bytes: u64, speed: Option<u64>) -> Option<Duration> {
        self.spent.fetch_add(bytes, Ordering::Relaxed);
        let speed = speed?.max(1);
        let now = Instant::now();
        let mut paid_until = self.paid_until.lock().unwrap_or_else(PoisonError::into_inner);
        let earliest = now.checked_sub(BURST).unwrap_or(now);
        let start = paid_until.map_or(earliest, |until| until.max(earliest));
        let nanos = u128::from(bytes) * 1_000_000_000 / u128::from(speed);
        let until = start + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        *paid_until = Some(until);
        until.checked_duration_since(now).filter(|wait| !wait.is_zero())
    }
}

/// One connection: its place among those of the sandbox, and what is told of it when it ends.
pub(crate) struct Ticket {
    meter: Arc<Meter>,
    observer: Arc<dyn Observer>,
    pub(crate) counts: Arc<Counts>,
    seen: Seen,
    began: Instant,
    /// How many there were when this one came, itself among them.
    open: u32,
    /// Among all connections of the server.
    _place: OwnedSemaphorePermit,
}

/// Bytes of one connection, counted where they pass.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) sent: AtomicU64,
    pub(crate) received: AtomicU64,
}

impl Ticket {
    pub(crate) fn new(
        meter: &Arc<Meter>,
        observer: Arc<dyn Observer>,
        way: Way,
        wanted: &Wanted,
        place: OwnedSemaphorePermit,
    ) -> Self {
        let open = meter.open.fetch_add(1, Ordering::AcqRel) + 1;
        let seen = Seen {
            way,
            name: wanted.name().map(ToString::to_string),
            address: wanted.address(),
            port: wanted.port,
            sent: 0,
            received: 0,
            took: Duration::ZERO,
            times: 1,
            verdict: SeenVerdict::Allowed,
        };
        let counts = Arc::default();
        Self { meter: Arc::clone(meter), observer, counts, seen, began: Instant::now(), open, _place: place }
    }

    pub(crate) fn has_place(&self, limit: u32) -> bool {
        self.open <= limit
    }

    pub(crate) fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    pub(crate) fn address(&self) -> Option<IpAddr> {
        self.seen.address
    }

    pub(crate) fn reached(&mut self, address: Option<IpAddr>) {
        self.seen.address = address.or(self.seen.address);
    }

    /// It was cut short for this reason.
    pub(crate) fn cut(&mut self, why: &NoConnection) {
        self.seen.verdict = match why {
            NoConnection::Denied(denied) => SeenVerdict::Denied(denied.to_string()),
            NoConnection::Failed { why, .. } => SeenVerdict::Failed(why.clone()),
        };
    }

    /// There was no connection, for a reason that is passed through.
    pub(crate) fn refused(mut self, why: NoConnection) -> NoConnection {
        self.cut(&why);
        why
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.meter.open.fetch_sub(1, Ordering::AcqRel);
        self.seen.sent = self.counts.sent.load(Ordering::Relaxed);
        self.seen.received = self.counts.received.load(Ordering::Relaxed);
        self.seen.took = self.began.elapsed();
        self.observer.seen(self.seen.clone());
    }
}

#[cfg(test)]
#[path = "meter_tests.rs"]
mod tests;
