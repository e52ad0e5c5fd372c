//! Pausing a sandbox, holding it still while it is copied, and how long it stood still in all.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use sandgate_core::{BackendError, Result, Sandbox};
use sandgate_jail::cgroup::Cgroups;

use super::EngineSandbox;
use crate::shared::blocking;

/// How long a sandbox may take to stand still before it is copied as it is.
const FREEZES_WITHIN: Duration = Duration::from_secs(2);

/// For how long it stood still, all pauses together.
#[derive(Debug, Default)]
pub(super) struct StandsStill {
    before: Duration,
    since: Option<Instant>,
}

impl EngineSandbox {
    pub(super) async fn freeze(&self, frozen: bool) -> Result<()> {
        let Some(cgroups) = self.shared.cgroups.clone() else {
            return Err(BackendError::Invalid(
                "pausing needs control groups, which this engine runs without".into(),
            ));
        };
        self.set_frozen(cgroups, frozen).await?;
        self.paused.store(frozen, Ordering::Release);
        self.stands_still(frozen);
        Ok(())
    }

    async fn set_frozen(&self, cgroups: Arc<Cgroups>, frozen: bool) -> Result<()> {
        let id = self.volume.id.clone();
        let done = blocking(move || cgroups.freeze(id.as_str(), frozen)).await?;
        done.map_err(|error| BackendError::Engine(error.to_string()))
    }

    /// Until [`Self::let_go`]. False: it stands still anyway, or cannot be made to.
    pub(crate) async fn hold_still(&self) -> Result<bool> {
        let Some(cgroups) = self.shared.cgroups.clone() else { return Ok(false) };
        if self.is_paused_now() || !self.is_alive() {
            return Ok(false);
        }
        self.held_still.store(true, Ordering::Release);
        self.stands_still(true);
        if let Err(error) = self.set_frozen(Arc::clone(&cgroups), true).await {
            self.let_go().await;
            return Err(error);
        }
        // The kernel freezes each process when it next can. One that waits for a disk may take its time.
        let until = Instant::now() + FREEZES_WITHIN;
        while Instant::now() < until && matches!(cgroups.is_frozen(self.volume.id.as_str()), Ok(false)) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Ok(true)
    }

    pub(crate) async fn let_go(&self) {
        if let Some(cgroups) = self.shared.cgroups.clone()
            && let Err(error) = self.set_frozen(cgroups, false).await
            && !self.is_stopped()
        {
            tracing::error!(sandbox = %self.volume.id, %error, "a sandbox stays frozen after it was copied");
        }
        self.held_still.store(false, Ordering::Release);
        self.stands_still(false);
    }

    fn stands_still(&self, still: bool) {
        let mut all = self.stands_still.lock().unwrap_or_else(PoisonError::into_inner);
        if still {
            all.since.get_or_insert_with(Instant::now);
        } else if let Some(since) = all.since.take() {
            all.before += since.elapsed();
        }
    }

    pub(crate) fn stood_still(&self) -> Duration {
        let all = self.stands_still.lock().unwrap_or_else(PoisonError::into_inner);
        all.before + all.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}
