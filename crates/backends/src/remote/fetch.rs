//! Brings what changed in a sandbox's working folder to the gate, within the bounds of what it keeps.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sandgate_core::{BackendError, FileKind, Result};

use super::changes::Mark;
use super::kept::Kept;
use crate::{Gathered, Place, PlaceEntry, ProviderError};

/// Fetches what is other than what is kept, forgets what is gone. Gives the paths of what did not fit.
pub(super) async fn fetch(kept: &Kept, place: &Arc<dyn Place>, now: &Gathered) -> Result<Vec<String>> {
    let marks = kept.marks().await;
    let before: BTreeSet<String> = kept.left_out().await.into_iter().collect();
    let mut left_out = Vec::new();
    let files: BTreeMap<&str, &PlaceEntry> = now
        .entries
        .iter()
        .filter(|entry| entry.kind == FileKind::File)
        .map(|entry| (entry.path.as_str(), entry))
        .collect();
    // First what is gone: it makes room.
    if !now.cut {
        for path in marks.keys().chain(&before).filter(|path| !files.contains_key(path.as_str())) {
            kept.forget(path).await?;
        }
    }
    let folders = now.entries.iter().filter(|entry| entry.kind == FileKind::Directory);
    kept.keep_folders(folders.map(|entry| (entry.path.as_str(), entry.modified_ms)), !now.cut).await?;
    for (path, entry) in files {
        let mark = Mark { size: entry.size, modified_ms: entry.modified_ms };
        if marks.get(path) == Some(&mark) {
            continue;
        }
        match fetch_one(kept, place, entry).await {
            Ok(()) => {}
            Err(BackendError::FileTooLarge { .. } | BackendError::NoSpace(_)) => {
                kept.leave_out(path).await?;
                if !before.contains(path) {
                    left_out.push(path.to_owned());
                }
            }
            // It went while we looked.
            Err(BackendError::NoSuchFile(_)) => {
                kept.forget(path).await?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(left_out)
}

async fn fetch_one(kept: &Kept, place: &Arc<dyn Place>, entry: &PlaceEntry) -> Result<()> {
    let path = entry.path.as_str();
    if !kept.has_room(path, entry.size).await {
        return Err(BackendError::NoSpace(path.to_owned()));
    }
    let mut content = place.read(path).await.map_err(|error| match error {
        ProviderError::NoSuchFile(path) => BackendError::NoSuchFile(path),
        other => BackendError::File { path: path.to_owned(), reason: other.to_string() },
    })?;
    let draft = kept.draft(path, &mut content.reader).await?;
    kept.put(path, draft, entry.mode, entry.modified_ms).await
}
