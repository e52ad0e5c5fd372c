//! What is brought to the disk, in which order, and that nothing is where nothing was written.

use std::sync::{Mutex, PoisonError};

use super::*;
use crate::remote::kept::{Bounds, Kept};

static SYNCED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

pub(super) fn note(path: &Path) {
    SYNCED.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
}

/// Since the last time, of this folder: `content` or `names`.
fn synced(folder: &Path) -> Vec<&'static str> {
    let mut all = SYNCED.lock().unwrap_or_else(PoisonError::into_inner);
    let ours = all.extract_if(.., |path| path.starts_with(folder));
    ours.map(|path| if path == folder { "names" } else { "content" }).collect()
}

#[tokio::test]
async fn contents_are_on_disk_before_the_index_names_them_and_nothing_else_waits_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let kept = Kept::open(folder.path().to_owned(), Bounds { bytes: 100, entries: 10 }).await.unwrap();
    for name in ["/mnt/data/a", "/mnt/data/b"] {
        let draft = kept.draft(name, &mut "one".as_bytes()).await.unwrap();
        kept.put(name, draft, 0o644, 7).await.unwrap();
    }
    assert_eq!(synced(folder.path()), ["content", "content"]);
    kept.save().await.unwrap();
    // Once for the contents, once for the index.
    assert_eq!(synced(folder.path()), ["names", "names"]);
    kept.save().await.unwrap();
    kept.make_folder("/mnt/data/c", 7).await.unwrap();
    kept.save().await.unwrap();
    assert_eq!(synced(folder.path()), [""; 0]);
    // The old index names what is removed next.
    kept.forget("/mnt/data/a").await;
    kept.save().await.unwrap();
    assert_eq!(synced(folder.path()), ["names"]);
}
