//! Looks at the working folder of a remote sandbox: what is there, and a copy of it at the gate.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use sandgate_core::{Result, SandboxPath};

use super::changes::Seen;
use super::fetch::{Fetched, fetch};
use super::sandbox::{At, Inner};
use crate::{Place, ProviderError, ProviderResult};

/// As deep as a listing of the working folder goes.
const DEPTH: u32 = 64;
/// For the last look at the files of a sandbox that ends.
const LAST_LOOK: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(super) struct Looked {
    pub(super) seen: Seen,
    pub(super) fetched: Fetched,
}

impl Inner {
    /// Fetches what is not kept yet.
    pub(super) async fn look(&self, at: &At) -> Result<Looked> {
        let _alone = self.looking.lock().await;
        // One that was lost meanwhile may answer all the same, and knows nothing of what is kept since.
        if self.current().await.is_none_or(|now| now.generation != at.generation) {
            return Err(self.shared.error(ProviderError::Lost));
        }
        let gathered = self.told(at, self.list_all(&at.place).await).await?;
        let unrestored = self.unrestored.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let fetched = fetch(&self.kept, &at.place, &gathered, &unrestored).await?;
        if fetched.lost {
            return self.told(at, Err(ProviderError::Lost)).await;
        }
        Ok(Looked { seen: Seen::of(&gathered.entries), fetched })
    }

    /// The entries that the gate may keep: what is told of other places, or by names that are none, is passed over.
    pub(super) async fn list_all(&self, place: &Arc<dyn Place>) -> ProviderResult<crate::Gathered> {
        let most = usize::try_from(self.spec.limits.disk_entries).unwrap_or(usize::MAX);
        let mut gathered = place.list(SandboxPath::WORKING_DIR, DEPTH, most).await?;
        gathered.entries.retain(|entry| is_keepable(&entry.path));
        Ok(gathered)
    }

    /// Before a sandbox ends. What it had that could not be fetched is told by the next one.
    pub(super) async fn last_look(&self, at: &At) -> Option<Looked> {
        let looking = async {
            self.shared.check_open()?;
            self.look(at).await
        };
        match tokio::time::timeout(LAST_LOOK, looking).await {
            Ok(Ok(looked)) => return Some(looked),
            Ok(Err(error)) => tracing::warn!(sandbox = %self.id, %error, "the last files were not fetched"),
            Err(_) => tracing::warn!(sandbox = %self.id, "the last files took too long to fetch"),
        }
        self.kept.set_stale().await;
        if let Err(error) = self.kept.save().await {
            tracing::warn!(sandbox = %self.id, %error, "the kept files could not be written down");
        }
        None
    }
}

/// Below the working folder, and as plain as the gate itself writes paths.
pub(super) fn is_keepable(path: &str) -> bool {
    let is_plain = SandboxPath::parse(path).is_ok_and(|plain| plain.as_str() == path);
    let below = path.strip_prefix(SandboxPath::WORKING_DIR).is_some_and(|rest| rest.starts_with('/'));
    is_plain && below
}
