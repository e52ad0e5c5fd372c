//! What is left in the folder when adding a file goes wrong.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};

use crate::testing::{ann, count, store};
use crate::{Store, StoreError};

/// A client that hangs up.
struct HangsUp;

impl AsyncRead for HangsUp {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()))
    }
}

fn left(home: &tempfile::TempDir) -> usize {
    std::fs::read_dir(home.path().join("files")).unwrap().count()
}

async fn add(store: &Store, content: impl AsyncRead + Send, limit: u64) -> Result<(), StoreError> {
    store.add_file(&ann(), "a", "user_data", None, content, limit).await.map(drop)
}

#[tokio::test]
async fn more_than_the_limit_is_refused_while_reading() {
    let (home, store) = store().await;
    // Without an end: only a limit that is looked at while reading ends this.
    let refused = add(&store, tokio::io::repeat(b'x'), 1_000_000).await;
    assert!(matches!(refused, Err(StoreError::FileTooLarge { limit: 1_000_000 })));
    assert_eq!((left(&home), count(&store, "files").await), (0, 0));
    add(&store, tokio::io::repeat(b'x').take(1_000_000), 1_000_000).await.unwrap();
    assert_eq!(left(&home), 1);
}

#[tokio::test]
async fn a_content_that_breaks_off_leaves_nothing() {
    let (home, store) = store().await;
    let refused = add(&store, (&b"abc"[..]).chain(HangsUp), 100).await;
    assert!(matches!(refused, Err(StoreError::Content(_))));
    assert_eq!((left(&home), count(&store, "files").await), (0, 0));
}

#[tokio::test]
async fn a_caller_that_goes_away_leaves_nothing() {
    let (home, store) = store().await;
    let (_writer, never_ends) = tokio::io::duplex(8);
    let gave_up = tokio::time::timeout(Duration::from_millis(50), add(&store, never_ends, 100)).await;
    assert!(gave_up.is_err());
    assert_eq!(left(&home), 0);
}

#[tokio::test]
async fn what_a_crash_left_is_removed_at_the_next_opening() {
    let (home, store) = store().await;
    add(&store, &b"kept"[..], 100).await.unwrap();
    let files = home.path().join("files");
    std::fs::write(files.join("file-draft.draft"), "x").unwrap();
    std::fs::write(files.join("file-withoutrow"), "x").unwrap();
    std::fs::write(files.join("not ours"), "x").unwrap();

    let beside = Store::open(home.path()).await.unwrap();
    assert_eq!(left(&home), 4, "the first store may be writing these");
    drop((store, beside));
    let _store = Store::open(home.path()).await.unwrap();
    assert_eq!(left(&home), 2);
}
