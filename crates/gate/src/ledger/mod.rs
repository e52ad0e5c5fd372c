//! Who asked for what, and what was done for it: linked records, written when work begins and again when it
//! ends. Code and its output are in them only where that is switched on; prompts and answers never are.

mod approval;
mod call;
mod config;
mod connection;
mod entry;
mod execution;
mod kept_rich;
mod kept_text;
mod tokens;
mod turn;
mod writer;

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sandgate_core::KeyLimits;
use sandgate_store::{Store, StoreError};

pub(crate) use approval::ApprovalEntry;
pub use call::{Call, NewCall};
pub use config::LedgerConfig;
pub use connection::Connection;
pub(crate) use execution::{ExecutionEntry, What};
pub(crate) use turn::TurnEntry;
use writer::Writer;

use crate::live::Live;

/// Records removed in one go; others get their turn in between.
const PRUNED_AT_ONCE: usize = 500;
const NOTE_OF_LOST: &str = "the server ended while this was under way; what became of it is not known";

/// Cheap to clone. The default one writes nothing.
#[derive(Clone, Debug, Default)]
pub struct Ledger(Option<Arc<Inner>>);

#[derive(Debug)]
struct Inner {
    store: Store,
    writer: Writer,
    config: Live<LedgerConfig>,
}

impl Ledger {
    /// Must be called where a runtime is.
    #[must_use]
    pub fn new(store: Store, config: LedgerConfig) -> Self {
        let writer = Writer::start(store.clone());
        Self(Some(Arc::new(Inner { store, writer, config: Live::new(config) })))
    }

    /// For records that begin from now on.
    pub fn reconfigure(&self, config: LedgerConfig) {
        if let Some(inner) = &self.0 {
            inner.config.replace(config);
        }
    }

    /// The writer, if anything is to be written.
    fn writer(&self) -> Option<&Writer> {
        let inner = self.0.as_deref()?;
        inner.config.get().enabled.then_some(&inner.writer)
    }

    /// For what was begun while records were written: its end is written too.
    fn writer_of_begun(&self) -> Option<&Writer> {
        self.0.as_deref().map(|inner| &inner.writer)
    }

    /// Whether requests that are only passed on are recorded too.
    #[must_use]
    pub fn records_passed(&self) -> bool {
        self.0.as_deref().is_some_and(|inner| {
            let config = inner.config.get();
            config.enabled && config.passed
        })
    }

    /// Whether records hold code and output: what the key says goes before what the configuration does.
    fn holds_code(&self, limits: &KeyLimits) -> bool {
        let usual = || self.0.as_deref().is_some_and(|inner| inner.config.get().code);
        limits.log_code.unwrap_or_else(usual)
    }

    /// Returns when everything so far is on disk, or could not be written.
    pub async fn flush(&self) {
        if let Some(inner) = self.0.as_deref() {
            inner.writer.flush().await;
        }
    }

    /// At the start: what the last server left under way is said to be lost. How much it was.
    pub async fn close_lost(&self) -> Result<usize, StoreError> {
        match self.0.as_deref() {
            Some(inner) => inner.store.close_ledger(NOTE_OF_LOST).await,
            None => Ok(0),
        }
    }

    /// Forgets what is older than the configured time.
    pub async fn prune(&self) -> Result<usize, StoreError> {
        let Some(inner) = self.0.as_deref() else { return Ok(0) };
        let Some(kept) = inner.config.get().keep else { return Ok(0) };
        let before = now_ms().saturating_sub(millis(kept));
        let mut sum = 0;
        loop {
            let count = inner.store.prune_ledger(before, PRUNED_AT_ONCE).await?;
            sum += count;
            if count < PRUNED_AT_ONCE {
                return Ok(sum);
            }
        }
    }
}

/// Milliseconds since 1970.
fn now_ms() -> u64 {
    millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Milliseconds with what is behind the point.
fn exact_millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

#[cfg(test)]
mod tests;
