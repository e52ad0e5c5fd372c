//! Counts what a sandbox sends and receives, and slows it down where that is bounded.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sandgate_core::network::NetworkLimits;
use tokio_util::sync::CancellationToken;

use crate::buffers::{WidePlaces, Width};
use crate::crowd::Place;
use crate::denied::{NoConnection, Wanted};
use crate::observer::{Seen, SeenVerdict};
use crate::{Observer, Way};

/// One sandbox's use of the network, over all its connections. Bytes are asked for before they pass, so that many
/// connections together get no more than one.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    open: AtomicU32,
    spent: AtomicU64,
    asked: Mutex<Asked>,
    used_up: CancellationToken,
    wide: WidePlaces,
}

#[derive(Debug, Default)]
struct Asked {
    /// Bytes that were granted, and of which nobody knows yet whether they pass.
    granted: u64,
    /// Until when the bytes so far take, at the allowed speed.
    paid_until: Option<Instant>,
}

/// What is said to who wants to pass bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// So many, to be settled when they have passed.
    Granted(u64),
    /// None before then. Others may be faster: ask again.
    Wait(Duration),
    /// Never more.
    UsedUp,
}

/// So much may come at once after a pause.
const BURST: Duration = Duration::from_millis(200);
/// Bytes that pass at once even where a second has few.
const SLOWEST_PIECE: u64 = 4 << 10;
/// For the last bytes, while others hold them and may not need them.
const SHORTLY: Duration = Duration::from_millis(1);

impl Meter {
    pub(crate) fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }

    /// Whether at most `most` bytes may pass now.
    pub(crate) fn ask(&self, most: u64, limits: &NetworkLimits) -> Answer {
        if limits.bytes.is_none() && limits.bytes_per_second.is_none() {
            return Answer::Granted(most);
        }
        let now = Instant::now();
        let mut asked = self.lock();
        let left = limits.bytes.map(|limit| limit.saturating_sub(self.spent()));
        if left == Some(0) {
            return Answer::UsedUp;
        }
        let unclaimed = left.map(|left| left.saturating_sub(asked.granted));
        if unclaimed == Some(0) {
            return Answer::Wait(SHORTLY);
        }
        if limits.bytes_per_second.is_some()
            && let Some(wait) = asked.paid_until.and_then(|until| until.checked_duration_since(now))
            && !wait.is_zero()
        {
            return Answer::Wait(wait);
        }
        // Small enough that what is slow is steady too.
        let steady = limits.bytes_per_second.map(|speed| (speed / 10).max(SLOWEST_PIECE));
        let granted = [unclaimed, steady].into_iter().flatten().fold(most, u64::min);
        asked.granted += granted;
        if let Some(speed) = limits.bytes_per_second {
            let earliest = now.checked_sub(BURST).unwrap_or(now);
            let start = asked.paid_until.map_or(earliest, |until| until.max(earliest));
            asked.paid_until = Some(start + time_for(granted, speed));
        }
        Answer::Granted(granted)
    }

    /// Of `granted` bytes so many have passed; the others are given back.
    pub(crate) fn settle(&self, granted: u64, passed: u64, limits: &NetworkLimits) {
        if limits.bytes.is_none() && limits.bytes_per_second.is_none() {
            self.spent.fetch_add(passed, Ordering::Relaxed);
            return;
        }
        let mut asked = self.lock();
        asked.granted = asked.granted.saturating_sub(granted);
        let spent = self.spent.fetch_add(passed, Ordering::Relaxed) + passed;
        if let (Some(speed), Some(until)) = (limits.bytes_per_second, asked.paid_until) {
            // More than were granted may have passed where a piece cannot be cut.
            let until = match granted.checked_sub(passed) {
                Some(unused) => until.checked_sub(time_for(unused, speed)).unwrap_or(until),
                None => until + time_for(passed - granted, speed),
            };
            asked.paid_until = Some(until);
        }
        drop(asked);
        if limits.bytes.is_some_and(|limit| spent >= limit) {
            self.used_up.cancel();
        }
    }

    /// Ends when no byte may pass any more.
    pub(crate) fn used_up(&self) -> &CancellationToken {
        &self.used_up
    }

    fn lock(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// At a speed of almost nothing it is long, but it has an end.
fn time_for(bytes: u64, speed: u64) -> Duration {
    const LONGEST: Duration = Duration::from_hours(24);
    let nanos = u128::from(bytes) * 1_000_000_000 / u128::from(speed.max(1));
    u64::try_from(nanos).map_or(LONGEST, |nanos| Duration::from_nanos(nanos).min(LONGEST))
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
    place: Place,
    width: Option<Width>,
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
        place: Place,
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
        let (meter, began) = (Arc::clone(meter), Instant::now());
        Self { meter, observer, counts, seen, began, open, place, width: None }
    }

    /// How much the kernel may hold of it. For a connection that is made; others need no place for that.
    pub(crate) fn width(&mut self) -> &Width {
        self.width.get_or_insert_with(|| Width::of(&self.meter.wide, &self.place.wide))
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
