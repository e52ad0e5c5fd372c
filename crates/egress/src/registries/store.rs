//! Packages on disk, each under its own hash, or, where there is none, under what stands for its address. Only the
//! server puts anything there, and under a hash only what has it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use sandgate_core::space_is_short;
use tokio::fs::File;
use tokio::io::AsyncWriteExt;

#[derive(Debug)]
pub(super) struct Store {
    folder: PathBuf,
    most: u64,
    held: AtomicU64,
    /// Of files that are still being written.
    drafted: AtomicU64,
    drafts: AtomicU64,
    /// Whether only what is left to the host is free on the disk.
    short: fn(BorrowedFd<'_>) -> bool,
}

impl Store {
    pub(super) fn open(folder: &Path, most: u64) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let mut held = 0;
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            // Left by a server that ended while it fetched.
            if entry.file_name().to_string_lossy().starts_with("draft-") {
                std::fs::remove_file(entry.path())?;
            } else {
                held += entry.metadata()?.len();
            }
        }
        Ok(Self {
            folder: folder.to_owned(),
            most,
            held: AtomicU64::new(held),
            drafted: AtomicU64::default(),
            drafts: AtomicU64::default(),
            short: space_is_short,
        })
    }

    pub(super) async fn get(&self, name: &str) -> Option<File> {
        let file = File::open(self.folder.join(name)).await.ok()?;
        // Used now, so not the first to go.
        let std = file.try_clone().await.ok()?.into_std().await;
        let _ = std.set_modified(SystemTime::now());
        Some(file)
    }

    /// A file to write to.
    pub(super) async fn draft(self: &Arc<Self>) -> io::Result<Draft> {
        let number = self.drafts.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(format!("draft-{}-{number}", std::process::id()));
        let file = File::create_new(&path).await?;
        Ok(Draft { store: Arc::clone(self), file, path, size: 0, is_kept: false })
    }

    /// Down to nine tenths, the longest unused first.
    fn make_room(&self) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(&self.folder)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with("draft-") {
                continue;
            }
            match entry.metadata() {
                Ok(about) => files.push((about.modified()?, about.len(), entry.path())),
                // Somebody else makes room too.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        files.sort();
        let mut held: u64 = files.iter().map(|(_, size, _)| size).sum();
        for (_, size, path) in files {
            if held <= self.most / 10 * 9 {
                break;
            }
            match std::fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => held -= size,
            }
        }
        self.held.store(held, Ordering::Release);
        Ok(())
    }
}

/// A file that is being fetched. It counts for nothing before [`Draft::keep`], and is removed if it never comes to that.
pub(super) struct Draft {
    store: Arc<Store>,
    file: File,
    path: PathBuf,
    size: u64,
    is_kept: bool,
}

impl Draft {
    /// All drafts together may take as much room as what is kept, and no more; and nothing of what is the host's.
    pub(super) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let more = bytes.len() as u64;
        self.size += more;
        if self.store.drafted.fetch_add(more, Ordering::AcqRel) + more > self.store.most {
            return Err(io::Error::other("there is no room for it in the cache of packages"));
        }
        if (self.store.short)(self.file.as_fd()) {
            return Err(io::Error::other("the disk is nearly full"));
        }
        self.file.write_all(bytes).await
    }

    /// It becomes the file of this name: the hash that its content has, or what stands for where it came from.
    pub(super) async fn keep(mut self, name: &str) -> io::Result<()> {
        self.file.flush().await?;
        // Before it has its name: after a loss of power there must be no file under a hash that it does not have.
        self.file.sync_data().await?;
        let place = self.store.folder.join(name);
        let is_new = !tokio::fs::try_exists(&place).await?;
        tokio::fs::rename(&self.path, place).await?;
        self.is_kept = true;
        let size = if is_new { self.size } else { 0 };
        let is_full = self.store.held.fetch_add(size, Ordering::AcqRel) + size > self.store.most;
        let store = Arc::clone(&self.store);
        let after = tokio::task::spawn_blocking(move || {
            std::fs::File::open(&store.folder)?.sync_all()?;
            if is_full { store.make_room() } else { Ok(()) }
        });
        // It is kept, whatever becomes of the others.
        if let Err(error) = after.await.map_err(io::Error::other).flatten() {
            tracing::warn!(%error, "the cache of packages cannot be kept in order");
        }
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        self.store.drafted.fetch_sub(self.size, Ordering::AcqRel);
        if !self.is_kept
            && let Err(error) = std::fs::remove_file(&self.path)
        {
            tracing::warn!(%error, "what was fetched of a package is left");
        }
    }
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
