//! Getting what is kept onto the disk before anybody is told that it is: whenever the power fails, the index names
//! contents that are there.

use std::io::{Error, Write};
use std::path::{Path, PathBuf};

use tokio::fs;

/// Whole or not at all, whenever the power fails.
pub(super) async fn write_whole(path: PathBuf, text: Vec<u8>) -> Result<(), Error> {
    // At once, off the async threads: each step by itself would be handed over and waited for.
    let written = tokio::task::spawn_blocking(move || {
        let aside = path.with_extension("new");
        let mut file = std::fs::File::create(&aside)?;
        file.write_all(&text)?;
        file.sync_data()?;
        std::fs::rename(&aside, &path)
    });
    written.await.map_err(Error::other)?
}

/// What was written to a file, at `path`.
pub(super) async fn sync_content(file: &fs::File, path: &Path) -> Result<(), Error> {
    note(path);
    file.sync_data().await
}

/// The names in a folder: without it, a file that was moved into its place may be back in the old one.
pub(super) async fn sync_names(folder: &Path) -> Result<(), Error> {
    note(folder);
    let folder = folder.to_owned();
    let synced = tokio::task::spawn_blocking(move || std::fs::File::open(folder)?.sync_all());
    synced.await.map_err(Error::other)?
}

#[cfg(not(test))]
fn note(_path: &Path) {}

#[cfg(test)]
fn note(path: &Path) {
    tests::note(path);
}

#[cfg(test)]
#[path = "durable_tests.rs"]
mod tests;
