//! A content on its way into what the gate keeps: on disk, counted, and belonging to nothing yet.

use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sandgate_core::{BackendError, Result};
use tokio::fs;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};

use super::durable::sync_content;
use super::kept::failed;

const CHUNK: usize = 256 << 10;
/// How much is written between two looks at what is left of the disk.
const LOOK_AT_DISK: u64 = 8 << 20;

/// The bytes of one sandbox at the gate, kept and on their way together: so many uploads at once are bounded as one.
#[derive(Debug)]
pub(super) struct Room {
    pub(super) most: u64,
    pub(super) kept: AtomicU64,
    drafts: AtomicU64,
}

impl Room {
    pub(super) fn new(most: u64, kept: u64) -> Self {
        Self { most, kept: AtomicU64::new(kept), drafts: AtomicU64::new(0) }
    }

    pub(super) fn kept(&self) -> u64 {
        self.kept.load(Ordering::Acquire)
    }

    /// Whether so much more fits, where `replaced` of what is kept goes for it.
    pub(super) fn fits(&self, more: u64, replaced: u64) -> bool {
        let used = self.kept().saturating_sub(replaced).saturating_add(self.drafts.load(Ordering::Acquire));
        used.saturating_add(more) <= self.most
    }
}

/// Dropped, it is gone.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) path: PathBuf,
    pub(super) size: u64,
    room: Arc<Room>,
}

impl Draft {
    /// Takes in a content, as long as there is room for it; `replaced`: bytes that go when it comes.
    pub(super) async fn read(
        path: PathBuf,
        room: Arc<Room>,
        replaced: u64,
        what: &str,
        from: &mut (dyn AsyncRead + Send + Unpin),
    ) -> Result<Self> {
        let limit = room.most.saturating_sub(room.kept().saturating_sub(replaced));
        let mut draft = Self { path, size: 0, room };
        let mut file = fs::File::create(&draft.path).await.map_err(failed)?;
        let mut chunk = Vec::with_capacity(CHUNK);
        let mut unlooked = LOOK_AT_DISK;
        loop {
            chunk.clear();
            let read = (&mut *from).take(CHUNK as u64).read_buf(&mut chunk).await;
            let read = read
                .map_err(|error| BackendError::File { path: what.to_owned(), reason: error.to_string() })?
                as u64;
            if read == 0 {
                break;
            }
            if unlooked >= LOOK_AT_DISK {
                unlooked = 0;
                draft.check_disk(what)?;
            }
            unlooked += read;
            draft.room.drafts.fetch_add(read, Ordering::AcqRel);
            draft.size += read;
            if !draft.room.fits(0, replaced) {
                return Err(BackendError::FileTooLarge { limit });
            }
            file.write_all(&chunk).await.map_err(failed)?;
        }
        file.flush().await.map_err(failed)?;
        sync_content(&file, &draft.path).await.map_err(failed)?;
        Ok(draft)
    }

    /// The rest of the disk is left to the host, as by the embedded engine.
    fn check_disk(&self, what: &str) -> Result<()> {
        let folder = self.path.parent().unwrap_or(&self.path);
        match std::fs::File::open(folder) {
            Ok(folder) if sandgate_core::space_is_short(folder.as_fd()) => {
                Err(BackendError::NoSpace(what.to_owned()))
            }
            _ => Ok(()),
        }
    }

    pub(super) async fn open(&self) -> Result<fs::File> {
        fs::File::open(&self.path).await.map_err(failed)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        self.room.drafts.fetch_sub(self.size, Ordering::AcqRel);
        // Already renamed when it was put in its place.
        let _ = std::fs::remove_file(&self.path);
    }
}
