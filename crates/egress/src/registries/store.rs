//! Packages on disk, each under its own hash; only what has that hash is ever put there.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use sha2::{Digest, Sha256, Sha512};
use tokio::fs::File;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Hash {
    Sha256([u8; 32]),
    Sha512([u8; 64]),
}

impl Hash {
    pub(super) fn sha256(hex: &str) -> Option<Self> {
        unhex(hex)?.try_into().ok().map(Self::Sha256)
    }

    /// As [`fmt::Display`] writes it.
    pub(super) fn read(text: &str) -> Option<Self> {
        match text.split_once('-')? {
            ("sha256", hex) => Self::sha256(hex),
            ("sha512", hex) => unhex(hex)?.try_into().ok().map(Self::Sha512),
            _ => None,
        }
    }

    pub(super) fn hex(&self) -> String {
        let bytes: &[u8] = match self {
            Self::Sha256(bytes) => bytes,
            Self::Sha512(bytes) => bytes,
        };
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

fn unhex(hex: &str) -> Option<Vec<u8>> {
    if !hex.len().is_multiple_of(2) || hex.len() > 128 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).ok()).collect()
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Self::Sha256(_) => "sha256",
            Self::Sha512(_) => "sha512",
        };
        write!(f, "{kind}-{}", self.hex())
    }
}

/// Makes a hash of what passes, of the kind that is to be compared with.
pub(super) enum Hasher {
    Sha256(Sha256),
    Sha512(Sha512),
}

impl Hasher {
    pub(super) fn like(hash: Hash) -> Self {
        match hash {
            Hash::Sha256(_) => Self::Sha256(Sha256::new()),
            Hash::Sha512(_) => Self::Sha512(Sha512::new()),
        }
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha256(hasher) => hasher.update(bytes),
            Self::Sha512(hasher) => hasher.update(bytes),
        }
    }

    pub(super) fn finish(self) -> Hash {
        match self {
            Self::Sha256(hasher) => Hash::Sha256(hasher.finalize().into()),
            Self::Sha512(hasher) => Hash::Sha512(hasher.finalize().into()),
        }
    }
}

/// Addresses remembered; pages are asked for again before their files are.
const MOST_URLS: usize = 200_000;

#[derive(Debug)]
pub(super) struct Store {
    folder: PathBuf,
    most: u64,
    held: AtomicU64,
    drafts: AtomicU64,
    urls: Mutex<HashMap<Hash, String>>,
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
        let (held, drafts, urls) = (AtomicU64::new(held), AtomicU64::new(0), Mutex::default());
        Ok(Self { folder: folder.to_owned(), most, held, drafts, urls })
    }

    pub(super) fn remember(&self, hash: Hash, url: String) {
        let mut urls = self.urls.lock().unwrap_or_else(PoisonError::into_inner);
        if urls.len() >= MOST_URLS {
            urls.clear();
        }
        urls.insert(hash, url);
    }

    pub(super) fn url_of(&self, hash: Hash) -> Option<String> {
        self.urls.lock().unwrap_or_else(PoisonError::into_inner).get(&hash).cloned()
    }

    pub(super) async fn get(&self, hash: Hash) -> Option<File> {
        let file = File::open(self.folder.join(hash.to_string())).await.ok()?;
        // Used now, so not the first to go.
        let std = file.try_clone().await.ok()?.into_std().await;
        let _ = std.set_modified(SystemTime::now());
        Some(file)
    }

    /// A file to write to, and where it is. It counts for nothing before [`Store::keep`].
    pub(super) async fn draft(&self) -> io::Result<(File, PathBuf)> {
        let number = self.drafts.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(format!("draft-{}-{number}", std::process::id()));
        Ok((File::create_new(&path).await?, path))
    }

    /// The draft becomes the file of `hash`, which its content has.
    pub(super) async fn keep(&self, draft: &Path, hash: Hash, size: u64) -> io::Result<()> {
        tokio::fs::rename(draft, self.folder.join(hash.to_string())).await?;
        if self.held.fetch_add(size, Ordering::AcqRel) + size > self.most {
            self.make_room()?;
        }
        Ok(())
    }

    /// Down to nine tenths, the longest unused first.
    fn make_room(&self) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(&self.folder)? {
            let entry = entry?;
            let about = entry.metadata()?;
            if !entry.file_name().to_string_lossy().starts_with("draft-") {
                files.push((about.modified()?, about.len(), entry.path()));
            }
        }
        files.sort();
        let mut held: u64 = files.iter().map(|(_, size, _)| size).sum();
        for (_, size, path) in files {
            if held <= self.most / 10 * 9 {
                break;
            }
            std::fs::remove_file(path)?;
            held -= size;
        }
        self.held.store(held, Ordering::Release);
        Ok(())
    }
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
