//! A new sandbox of the provider's becomes one that code can run in: it answers and has its working folder. Where the
//! provider is quick, an interpreter is begun instead of asking.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use sandgate_core::{ExecuteRequest, Result, SandboxPath};
use tokio::time::{Instant, timeout_at};

use super::context::Folder;
use super::sandbox::{At, Inner};
use crate::{Furnished, Place, ProviderError, ProviderResult};

/// What the interpreter raises that looks for the folder. Any other failure may pass, and says nothing of the next one.
const NO_FOLDER: &str = "AssertionError";

/// Whether the next new sandbox will answer, and have its folder, as soon as it is made; as the last one did.
#[derive(Debug, Default)]
pub(super) struct Guess(AtomicU8);

impl Guess {
    const NO: u8 = 0;
    const YES: u8 = 1;
    const NEVER_AGAIN: u8 = 2;

    fn is_yes(&self) -> bool {
        self.0.load(Ordering::Relaxed) == Self::YES
    }

    fn learn(&self, found: Furnished) {
        let now = if found == Furnished::AtOnce { Self::YES } else { Self::NO };
        let not_given_up = |before| (before != Self::NEVER_AGAIN).then_some(now);
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, not_given_up);
    }

    /// Its folder is not as it was taken to be, and will not be the next time: each new guess would cost a start.
    fn was_wrong(&self) {
        self.0.store(Self::NEVER_AGAIN, Ordering::Relaxed);
    }
}

impl Inner {
    /// Waits for it, and has its folder made.
    pub(super) async fn furnish(&self, place: &dyn Place, until: Instant) -> ProviderResult<()> {
        let after = self.shared.provider.longest_create();
        let late = |_| ProviderError::TimedOut { what: "a sandbox was not ready".to_owned(), after };
        let found = timeout_at(until, place.furnish(SandboxPath::WORKING_DIR)).await.map_err(late)??;
        self.shared.quick.learn(found);
        Ok(())
    }

    pub(super) fn is_likely_ready(&self) -> bool {
        self.shared.provider.capabilities().first_context && self.shared.quick.is_yes()
    }

    /// Does not ask: begins the interpreter that most code is for, which sees for itself whether the folder is there.
    /// If it is not, or not yet, it is furnished like any other.
    pub(super) async fn furnish_quickly(&self, at: &At, until: Instant) -> Result<()> {
        let context = self.meant(&ExecuteRequest::default())?;
        wake_files(Arc::clone(&at.place));
        let begun = timeout_at(until, context.interpreter(self, at, Folder::Perhaps)).await;
        match begun {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(ProviderError::Failed(why))) if why.contains(NO_FOLDER) => {
                tracing::info!(sandbox = %self.id, why, "new sandboxes are not ready at once after all");
                self.shared.quick.was_wrong();
            }
            Ok(Err(error)) => {
                tracing::info!(sandbox = %self.id, %error, "a new sandbox was not ready at once");
                self.shared.quick.learn(Furnished::Later);
            }
            Err(_) => self.shared.quick.learn(Furnished::Later),
        }
        self.shared.ask(self.furnish(at.place.as_ref(), until)).await
    }
}

/// What serves files at a provider may begin when it is first asked: beside the interpreter, and not when somebody
/// waits to hear which files code made.
fn wake_files(place: Arc<dyn Place>) {
    tokio::spawn(async move {
        if let Err(error) = place.stat(SandboxPath::WORKING_DIR).await {
            tracing::debug!(sandbox = %place.id(), %error, "the folder of a new sandbox cannot be looked at");
        }
    });
}

#[cfg(test)]
#[path = "furnish_tests.rs"]
mod tests;
