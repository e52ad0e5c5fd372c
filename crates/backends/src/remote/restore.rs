//! A new sandbox gets the files that the gate kept of the one before.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use futures_util::{StreamExt, stream};
use sandgate_core::{BackendError, Result};

use super::changes::Seen;
use super::fetch::time_for;
use super::kept::KeptEntry;
use super::look::is_keepable;
use super::sandbox::Inner;
use crate::{Place, ProviderError};

/// Sent at the same time.
const AT_ONCE: usize = 8;
/// So many that cannot be put there, one after the other, are the provider's own trouble.
const MOST_IN_A_ROW: u32 = 5;

/// What a new sandbox does not have of what the one before had, for who runs code in it next.
#[derive(Clone, Debug, Default)]
pub(super) struct Missing {
    pub(super) paths: Vec<String>,
    /// Nobody could look at the end of the one before.
    pub(super) perhaps_more: bool,
}

impl Inner {
    pub(super) async fn fill(&self, place: &Arc<dyn Place>) -> Result<()> {
        let mut all = self.kept.all().await;
        all.retain(|path, _| is_keepable(path));
        let is_empty = all.is_empty();
        let unrestored = self.put_all(place, all).await?;
        let mut seen = Seen::default();
        if !is_empty {
            // Once for all of them: each by itself would be a listing of its folder.
            let now = self.list_all(place).await.map_err(|error| self.shared.error(error))?;
            let times: BTreeMap<String, i64> =
                now.entries.iter().map(|entry| (entry.path.clone(), entry.modified_ms)).collect();
            self.kept.set_modified(&times).await?;
            seen = Seen::of(&now.entries);
        }
        *self.lock_seen() = seen;
        let mut paths: BTreeSet<String> = self.kept.left_out().await.into_iter().collect();
        paths.extend(unrestored.iter().cloned());
        let missing =
            Missing { paths: paths.into_iter().collect(), perhaps_more: self.kept.take_stale().await };
        *self.missing.lock().unwrap_or_else(PoisonError::into_inner) = missing;
        *self.unrestored.lock().unwrap_or_else(PoisonError::into_inner) = unrestored;
        self.kept.settle().await
    }

    /// A file that cannot be put there keeps no other from it: it stays at the gate, and is given back.
    pub(super) async fn put_all(
        &self,
        place: &Arc<dyn Place>,
        entries: BTreeMap<String, KeptEntry>,
    ) -> Result<BTreeSet<String>> {
        let (folders, files): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|(_, entry)| matches!(entry, KeptEntry::Folder { .. }));
        let mut unrestored = BTreeSet::new();
        let mut in_a_row = 0;
        for (path, _) in folders {
            let made = place.make_dir(&path).await;
            self.judge(path, made, &mut in_a_row, &mut unrestored)?;
        }
        let mut sent = stream::iter(files)
            .map(|(path, entry)| async move {
                let sent = self.send(place, &path, entry.size()).await;
                (path, sent)
            })
            .buffer_unordered(AT_ONCE);
        while let Some((path, sent)) = sent.next().await {
            self.judge(path, sent?, &mut in_a_row, &mut unrestored)?;
        }
        drop(sent);
        Ok(unrestored)
    }

    async fn send(&self, place: &Arc<dyn Place>, path: &str, size: u64) -> Result<Result<(), ProviderError>> {
        if self.stopped.load(Ordering::Acquire) {
            return Err(BackendError::NoSuchSandbox(self.id.clone()));
        }
        let (file, size) = self.kept.read_whole(path).await.map(|(file, _)| (file, size))?;
        let after = time_for(size);
        let late = |_| Err(ProviderError::TimedOut { what: "a file was not taken".to_owned(), after });
        Ok(tokio::time::timeout(after, place.write(path, Box::new(file), size)).await.unwrap_or_else(late))
    }

    fn judge(
        &self,
        path: String,
        sent: Result<(), ProviderError>,
        in_a_row: &mut u32,
        unrestored: &mut BTreeSet<String>,
    ) -> Result<()> {
        let Err(error) = sent else {
            *in_a_row = 0;
            return Ok(());
        };
        *in_a_row += 1;
        if error == ProviderError::Lost || (*in_a_row >= MOST_IN_A_ROW && error.is_outage()) {
            return Err(self.shared.error(error));
        }
        tracing::warn!(sandbox = %self.id, path, %error, "a kept file could not be put into a new sandbox");
        unrestored.insert(path);
        Ok(())
    }
}
