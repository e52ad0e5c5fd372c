//! Files that were changed at the gate while their sandbox, which may live on at the provider, could not hear of it:
//! another run of the gate made it, and nobody has attached to it yet. It is told before anybody looks at its files,
//! since a look takes what is not there for what code has removed.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use sandgate_core::Result;

use super::changes::is_at_or_below;
use super::kept::{Index, Kept, KeptEntry};
use super::look::is_keepable;
use super::sandbox::{At, Inner};

/// What makes of the files there those that are here.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Apart {
    /// With all below them; first, since what is put may be in their place.
    pub(super) removed: Vec<String>,
    pub(super) put: BTreeMap<String, KeptEntry>,
}

impl Kept {
    /// The next changes are made here alone. On disk with the next [`Kept::save`], as they are.
    pub(super) async fn part(&self) {
        let mut index = self.index.lock().await;
        if index.as_there.is_none() {
            index.as_there = Some(index.entries.clone());
            index.is_changed = true;
        }
    }

    pub(super) async fn apart(&self) -> Option<Apart> {
        self.index.lock().await.apart()
    }

    /// The sandbox has what is here.
    pub(super) async fn settle(&self) -> Result<()> {
        let mut index = self.index.lock().await;
        index.is_changed |= index.as_there.take().is_some();
        drop(index);
        self.save().await
    }
}

impl Index {
    fn apart(&self) -> Option<Apart> {
        let there = self.as_there.as_ref()?;
        let mut apart = Apart::default();
        // A file where there was a folder cannot be written before that goes.
        let is_gone = |(path, before): &(&String, &KeptEntry)| {
            is_keepable(path)
                && self.entries.get(*path).is_none_or(|now| now.is_folder() != before.is_folder())
        };
        for (path, _) in there.iter().filter(is_gone) {
            // They are in order: a folder comes before what is in it.
            if !apart.removed.iter().any(|folder| is_at_or_below(path, folder)) {
                apart.removed.push(path.clone());
            }
        }
        let is_there = |path: &String, entry: &KeptEntry| {
            let is_removed = apart.removed.iter().any(|folder| is_at_or_below(path, folder));
            !is_removed && there.get(path).is_some_and(|before| before.is_same(entry))
        };
        let put = self.entries.iter().filter(|(path, entry)| is_keepable(path) && !is_there(path, entry));
        apart.put = put.map(|(path, entry)| (path.clone(), entry.clone())).collect();
        Some(apart)
    }
}

impl KeptEntry {
    fn is_folder(&self) -> bool {
        matches!(self, Self::Folder { .. })
    }

    /// Times are not asked: they are the provider's own.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File { content: one, .. }, Self::File { content: two, .. }) => one == two,
            (one, two) => one.is_folder() && two.is_folder(),
        }
    }
}

impl Inner {
    /// Before the first look at a sandbox that was found again. Should the gate die in the middle, all of it is done
    /// once more.
    pub(super) async fn catch_up(&self, at: &At) -> Result<()> {
        let Some(Apart { removed, put }) = self.kept.apart().await else { return Ok(()) };
        let _alone = self.looking.lock().await;
        for path in removed {
            match self.heard(at, at.place.remove(&path).await).await {
                Ok(()) => {}
                // It would only be there again.
                Err(error) if !error.is_outage() && error != crate::ProviderError::Lost => {
                    tracing::warn!(sandbox = %self.id, path, %error, "a removed file is still in its sandbox");
                }
                Err(error) => return self.told(at, Err(error)).await,
            }
        }
        let paths: Vec<String> = put.keys().cloned().collect();
        let unrestored = self.put_all(&at.place, put).await?;
        let now = self.told(at, self.list_all(&at.place).await).await?;
        let times = now.entries.iter().filter(|entry| paths.binary_search(&entry.path).is_ok());
        let times = times.map(|entry| (entry.path.clone(), entry.modified_ms)).collect();
        self.kept.set_modified(&times).await?;
        if unrestored.is_empty() {
            return self.kept.settle().await;
        }
        // Whoever finds it again tries again.
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        missing.paths.extend(unrestored.iter().cloned());
        drop(missing);
        *self.unrestored.lock().unwrap_or_else(PoisonError::into_inner) = unrestored;
        Ok(())
    }
}

#[cfg(test)]
#[path = "apart_tests.rs"]
mod tests;
