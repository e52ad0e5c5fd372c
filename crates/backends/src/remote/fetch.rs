//! Brings what changed in a sandbox's working folder to the gate, within the bounds of what it keeps and of time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use sandgate_core::{BackendError, FileKind, Result};
use tokio::time::{Instant, timeout, timeout_at};

use super::changes::Mark;
use super::kept::Kept;
use crate::{Gathered, Place, PlaceEntry, ProviderError};

/// Fetched at the same time.
const AT_ONCE: usize = 8;
/// For any file, and for all of them together; on top of it, time for the bytes.
const LEAST_TIME: Duration = Duration::from_secs(30);
const PER_FILE: Duration = Duration::from_millis(2);
/// Who is slower than this, in bytes per second, is not waited for.
const SLOWEST: u64 = 512 << 10;

#[derive(Debug, Default)]
pub(super) struct Fetched {
    /// The sandbox went meanwhile.
    pub(super) lost: bool,
    /// Paths of what did not fit, unless that was told before.
    pub(super) too_large: Vec<String>,
    /// Of what could not be fetched, and the last reason.
    pub(super) failed: Vec<String>,
    pub(super) why: Option<String>,
}

enum One {
    Kept,
    TooLarge,
    Gone,
    Lost,
    Failed(String),
}

/// Fetches what is other than what is kept, forgets what is gone. `unrestored`: kept files that the sandbox never
/// got, and that are not gone because of that.
pub(super) async fn fetch(
    kept: &Kept,
    place: &Arc<dyn Place>,
    now: &Gathered,
    unrestored: &BTreeSet<String>,
) -> Result<Fetched> {
    let fetched = fetch_changed(kept, place, now, unrestored).await;
    kept.save().await?;
    fetched
}

async fn fetch_changed(
    kept: &Kept,
    place: &Arc<dyn Place>,
    now: &Gathered,
    unrestored: &BTreeSet<String>,
) -> Result<Fetched> {
    let marks = kept.marks().await;
    let before: BTreeSet<String> = kept.left_out().await.into_iter().collect();
    let files: BTreeMap<&str, &PlaceEntry> = now
        .entries
        .iter()
        .filter(|entry| entry.kind == FileKind::File)
        .map(|entry| (entry.path.as_str(), entry))
        .collect();
    // First what is gone: it makes room.
    if !now.cut {
        let is_gone = |path: &&String| !files.contains_key(path.as_str()) && !unrestored.contains(*path);
        kept.forget_files(marks.keys().chain(&before).filter(is_gone)).await;
    }
    let folders = now.entries.iter().filter(|entry| entry.kind == FileKind::Directory);
    kept.keep_folders(folders.map(|entry| (entry.path.as_str(), entry.modified_ms)), !now.cut).await;
    let is_same = |entry: &PlaceEntry| {
        let mark = Mark { size: entry.size, modified_ms: entry.modified_ms };
        marks.get(&entry.path) == Some(&mark) && !before.contains(&entry.path)
    };
    let changed: Vec<PlaceEntry> = files.into_values().filter(|entry| !is_same(entry)).cloned().collect();
    let mut waited_for: BTreeSet<String> = changed.iter().map(|entry| entry.path.clone()).collect();
    let count = u32::try_from(changed.len()).unwrap_or(u32::MAX);
    let bytes = changed.iter().map(|entry| entry.size).fold(0, u64::saturating_add);
    let until = Instant::now() + time_for(bytes.min(kept.most_bytes())) + PER_FILE.saturating_mul(count);
    let mut all = stream::iter(changed)
        .map(|entry| async move {
            let one = fetch_one(kept, place, &entry).await;
            (entry.path, one)
        })
        .buffer_unordered(AT_ONCE);
    let mut fetched = Fetched::default();
    while let Ok(Some((path, one))) = timeout_at(until, all.next()).await {
        waited_for.remove(&path);
        match one? {
            One::Kept => {}
            One::TooLarge => {
                kept.leave_out(&path).await;
                if !before.contains(&path) {
                    fetched.too_large.push(path);
                }
            }
            One::Gone => drop(kept.forget(&path).await),
            One::Lost => {
                fetched.lost = true;
                break;
            }
            One::Failed(why) => {
                kept.not_as_there(&path).await;
                fetched.failed.push(path);
                fetched.why = Some(why);
            }
        }
    }
    drop(all);
    for path in waited_for {
        kept.not_as_there(&path).await;
        fetched.failed.push(path);
        fetched.why.get_or_insert_with(|| "there was no time for it".to_owned());
    }
    fetched.too_large.sort();
    fetched.failed.sort();
    Ok(fetched)
}

/// An error is the gate's own. What is wrong with one file is no reason to leave out the others.
async fn fetch_one(kept: &Kept, place: &Arc<dyn Place>, entry: &PlaceEntry) -> Result<One> {
    let path = entry.path.as_str();
    if !kept.has_room(path, entry.size).await {
        return Ok(One::TooLarge);
    }
    let fetching = async {
        let mut content = match place.read(path).await {
            Ok(content) => content,
            Err(ProviderError::NoSuchFile(_)) => return Ok(One::Gone),
            Err(ProviderError::Lost) => return Ok(One::Lost),
            Err(error) => return Ok(One::Failed(error.to_string())),
        };
        let draft = match kept.draft(path, &mut content.reader).await {
            Ok(draft) => draft,
            Err(BackendError::FileTooLarge { .. } | BackendError::NoSpace(_)) => return Ok(One::TooLarge),
            Err(BackendError::File { reason, .. }) => return Ok(One::Failed(reason)),
            Err(error) => return Err(error),
        };
        match kept.put(path, draft, entry.mode, entry.modified_ms).await {
            Ok(()) => Ok(One::Kept),
            Err(BackendError::NoSpace(_)) => Ok(One::TooLarge),
            Err(error) => Err(error),
        }
    };
    let slow = |_| Ok(One::Failed("it came too slowly".to_owned()));
    timeout(time_for(entry.size.min(kept.most_bytes())), fetching).await.unwrap_or_else(slow)
}

/// For so many bytes between the gate and a provider.
pub(super) fn time_for(bytes: u64) -> Duration {
    LEAST_TIME.saturating_add(Duration::from_secs(bytes / SLOWEST))
}
