//! The folder with the contents of files. A content is written as a draft and takes its name in the
//! transaction that adds its row, so a crash leaves at worst a content without a row.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use tokio::fs::{File, OpenOptions};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};

use crate::{Result, StoreError};

const DRAFT: &str = ".draft";
const CHUNK: usize = 128 * 1024;

#[derive(Debug)]
pub(crate) struct FilesFolder {
    path: PathBuf,
    lock: Option<fs::File>,
}

impl FilesFolder {
    pub(crate) fn new(path: PathBuf, lock: Option<fs::File>) -> Self {
        Self { path, lock }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// No other store has it open.
    pub(crate) fn is_ours(&self) -> bool {
        self.lock.is_some()
    }

    pub(crate) fn content(&self, id: &str) -> PathBuf {
        self.path.join(id)
    }

    /// Writes what comes, up to `limit` bytes; more, or an error, leaves nothing.
    pub(crate) async fn draft(
        &self,
        id: &str,
        content: impl AsyncRead + Send,
        limit: u64,
    ) -> Result<(Draft, u64)> {
        let draft = Draft { path: self.path.join(format!("{id}{DRAFT}")) };
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft.path).await?;
        tokio::pin!(content);
        let mut chunk = vec![0; CHUNK];
        let mut bytes = 0u64;
        loop {
            let read = content.read(&mut chunk).await.map_err(StoreError::Content)?;
            if read == 0 {
                break;
            }
            bytes = bytes.saturating_add(read as u64);
            if bytes > limit {
                return Err(StoreError::FileTooLarge { limit });
            }
            file.write_all(&chunk[..read]).await?;
        }
        // Without this an error of the last write would be lost.
        file.flush().await?;
        Ok((draft, bytes))
    }

    pub(crate) async fn open(&self, id: &str) -> io::Result<File> {
        File::open(self.content(id)).await
    }

    /// One that is not there is removed already.
    pub(crate) fn remove(&self, id: &str) {
        remove_quietly(&self.content(id));
    }

    pub(crate) fn length(&self, id: &str) -> io::Result<Option<u64>> {
        match fs::metadata(self.content(id)) {
            Ok(found) => Ok(Some(found.len())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Removes drafts, and contents that `is_known` does not know. Other things in the folder are not ours.
    pub(crate) fn clear(&self, is_known: impl Fn(&str) -> Result<bool>) -> Result<()> {
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| name.starts_with("file-")) else { continue };
            if name.ends_with(DRAFT) || !is_known(name)? {
                tracing::info!(file = name, "removing a file that an earlier run did not finish");
                remove_quietly(&entry.path());
            }
        }
        Ok(())
    }
}

/// Removed when it is dropped, wherever that happens.
#[derive(Debug)]
pub(crate) struct Draft {
    path: PathBuf,
}

impl Draft {
    /// Gives it its name; nothing is left to be removed under the old one.
    pub(crate) fn keep_as(self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        remove_quietly(&self.path);
    }
}

fn remove_quietly(path: &Path) {
    if let Err(error) = fs::remove_file(path)
        && error.kind() != ErrorKind::NotFound
    {
        tracing::warn!(path = %path.display(), %error, "a file could not be removed");
    }
}

#[cfg(test)]
#[path = "files_folder_tests.rs"]
mod tests;
