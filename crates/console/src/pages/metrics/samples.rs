//! What was measured in the last hour, in memory, one sample every few seconds.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sandgate_gate::Now;

use super::sample::{Sample, Step};
use crate::ConsoleParts;

const EVERY: Duration = Duration::from_secs(5);
const IN_A_MINUTE: u64 = 60 / EVERY.as_secs();
/// An hour, and one to begin from.
const MOST: usize = 721;
/// More points than a small picture can show.
const MOST_STEPS: usize = 180;

/// Cheap to clone. The sampling ends with the last clone.
#[derive(Clone, Default)]
pub(crate) struct Samples(Arc<Mutex<VecDeque<Sample>>>);

impl Samples {
    /// Measures from now on. Must be called where a runtime is.
    pub(crate) fn of(parts: &ConsoleParts) -> Self {
        let samples = Self::default();
        let (kept, parts) = (Arc::downgrade(&samples.0), parts.clone());
        tokio::spawn(async move {
            let mut ticks = tokio::time::interval(EVERY);
            ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                let Some(kept) = kept.upgrade() else { return };
                Self(kept).add(Sample::read(&parts.metrics.text(&now(&parts))));
            }
        });
        samples
    }

    fn add(&self, sample: Sample) {
        let mut kept = self.lock();
        if kept.len() >= MOST {
            kept.pop_front();
        }
        kept.push_back(sample);
    }

    /// What happened between samples, in the last so many minutes.
    pub(super) fn steps(&self, minutes: u64) -> Vec<Step> {
        let wanted = usize::try_from(minutes * IN_A_MINUTE).unwrap_or(MOST) + 1;
        let kept = self.lock();
        let recent: Vec<&Sample> = kept.iter().skip(kept.len().saturating_sub(wanted)).collect();
        let stride = recent.len().div_ceil(MOST_STEPS).max(1);
        // From the end, so that the newest is always there.
        let chosen: Vec<&Sample> = recent.into_iter().rev().step_by(stride).collect();
        let seconds = EVERY.as_secs_f64() * f64::from(u32::try_from(stride).unwrap_or(1));
        let mut steps: Vec<Step> = chosen
            .windows(2)
            .filter_map(|pair| Some(Step::between(pair.get(1)?, pair.first()?, seconds)))
            .collect();
        steps.reverse();
        steps
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Sample>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn now(parts: &ConsoleParts) -> Now {
    Now {
        is_healthy: parts.containers.is_healthy(),
        sandboxes: parts.containers.count_live(),
        containers: parts.containers.count(),
        approvals_held: parts.approvals.count_held(),
        store_queue: parts.store.queue_length(),
        backend: parts.containers.backend_stats(),
        backends: parts.containers.backend_reports(),
    }
}

impl fmt::Debug for Samples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Samples")
    }
}
