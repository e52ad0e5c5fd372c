//! The files of a remote sandbox that runs: those at the provider, and the gate's copy kept in step. When the
//! provider has lost the sandbox, the copy is all there is, and what the next sandbox will have.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use sandgate_core::{BackendError, ByteRange, FileContent, FileKind, FileStat, Files, Result, SandboxPath};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::OwnedMutexGuard;

use super::asleep::AsleepFiles;
use super::kept_files::{KeptFiles, is_kept};
use super::sandbox::{At, Current, Inner};
use crate::{PlaceEntry, ProviderError, ProviderResult};

/// More entries than this cannot be listed at once.
const MAX_LISTED: usize = 10_000;

/// So many sandboxes in a row are lost under one change before it fails.
const MOST_TRIES: u32 = 3;

/// Where files are changed.
enum Spot {
    There(At),
    /// In what is kept, while nobody makes a sandbox and fills it.
    Here(Arc<dyn Files>, Option<OwnedMutexGuard<Current>>),
}

pub(super) struct LiveFiles(pub(super) Arc<Inner>);

impl LiveFiles {
    fn kept(&self) -> KeptFiles {
        // Should the gate die now: the record names one that it takes for lost, and that may be there all the same.
        KeptFiles { kept: Arc::clone(&self.0.kept), apart: true }
    }

    /// Where the files are; None: the kept ones are all there is for now.
    async fn at(&self) -> Result<Option<At>> {
        if self.0.is_paused() {
            return Ok(None);
        }
        self.0.check_reach()?;
        Ok(self.0.current().await)
    }

    /// Where a change is to be made.
    async fn spot(&self) -> Result<Spot> {
        self.0.check_reach()?;
        let current = Arc::clone(&self.0.current).lock_owned().await;
        if let Some(at) = current.at() {
            return Ok(Spot::There(at));
        }
        if !self.0.stopped.load(Ordering::Acquire) {
            return Ok(Spot::Here(Arc::new(self.kept()), Some(current)));
        }
        // Another sandbox may have taken its place, and these files with it.
        let (shared, id, kept) = (Arc::clone(&self.0.shared), self.0.id.clone(), Arc::clone(&self.0.kept));
        Ok(Spot::Here(Arc::new(AsleepFiles { shared, id, kept }), None))
    }

    /// While this is held it is not lost, and no other is filled with what is kept. None: that has happened already,
    /// and what was changed there has to be changed in the next one.
    async fn still(&self, at: &At) -> Option<OwnedMutexGuard<Current>> {
        let current = Arc::clone(&self.0.current).lock_owned().await;
        current.at().is_some_and(|now| now.generation == at.generation).then_some(current)
    }

    /// Nothing is written to what is frozen: it would not be there when it goes on.
    fn check_not_paused(&self) -> Result<()> {
        if self.0.is_paused() { Err(BackendError::Paused) } else { Ok(()) }
    }

    /// None: the provider lost it.
    async fn answer<T>(&self, at: &At, answer: ProviderResult<T>) -> Result<Option<T>> {
        match self.0.heard(at, answer).await {
            Ok(answer) => Ok(Some(answer)),
            Err(ProviderError::Lost) => {
                self.0.lose(at.generation).await;
                Ok(None)
            }
            Err(error) => Err(self.0.shared.error(error)),
        }
    }
}

fn stat(entry: PlaceEntry) -> FileStat {
    let PlaceEntry { path, kind, size, mode, modified_ms, link_target } = entry;
    FileStat { path, kind, size, mode, modified_ms, link_target }
}

/// What there is to read at the provider; where that has lost the sandbox, with what was kept.
macro_rules! or_kept {
    ($self:ident, $at:ident, $ask:expr, $kept:expr) => {{
        let Some($at) = $self.at().await? else { return $kept.await };
        match $self.answer(&$at, $ask.await).await? {
            Some(answer) => answer,
            None => return $kept.await,
        }
    }};
}

#[async_trait]
impl Files for LiveFiles {
    async fn open(&self, path: &SandboxPath, range: Option<ByteRange>) -> Result<FileContent> {
        let kept = self.kept();
        let entry = or_kept!(self, at, at.place.stat(path.as_str()), kept.open(path, range));
        if entry.kind == FileKind::Directory {
            return Err(BackendError::IsFolder(path.to_string()));
        }
        let content = or_kept!(self, at, at.place.read(path.as_str()), kept.open(path, range));
        let ByteRange { start, length } = range.unwrap_or(ByteRange { start: 0, length: None });
        let mut reader = content.reader;
        // Providers begin at the beginning.
        let skipped = tokio::io::copy(&mut (&mut reader).take(start), &mut tokio::io::sink()).await;
        skipped.map_err(|error| BackendError::File { path: path.to_string(), reason: error.to_string() })?;
        let reader = Box::new(reader.take(length.unwrap_or(u64::MAX)));
        Ok(FileContent { stat: stat(entry), reader })
    }

    async fn write(
        &self,
        path: &SandboxPath,
        content: &mut (dyn AsyncRead + Send + Unpin),
    ) -> Result<FileStat> {
        self.check_not_paused()?;
        // Gathered here first: the provider wants to know how much comes, and then there is a copy already.
        let draft = self.0.kept.draft(path.as_str(), content).await?;
        let _alone = self.0.looking.lock().await;
        for _ in 0..MOST_TRIES {
            let at = match self.spot().await? {
                Spot::There(at) => at,
                Spot::Here(files, _nobody_makes_one) => {
                    let mut file = draft.open().await?;
                    // It is read to its end all the same, and is not counted twice.
                    drop(draft);
                    return files.write(path, &mut file).await;
                }
            };
            let file = Box::new(draft.open().await?);
            let written = async {
                at.place.write(path.as_str(), file, draft.size).await?;
                at.place.stat(path.as_str()).await
            };
            let Some(entry) = self.answer(&at, written.await).await? else { continue };
            let Some(_it_stays) = self.still(&at).await else { continue };
            self.0.lock_seen().put(&entry);
            if is_kept(path) {
                self.0.kept.put(path.as_str(), draft, entry.mode, entry.modified_ms).await?;
                self.0.kept.save().await?;
            }
            return Ok(stat(entry));
        }
        Err(self.0.shared.error(ProviderError::Lost))
    }

    async fn list(&self, path: &SandboxPath, depth: u32) -> Result<Vec<FileStat>> {
        let kept = self.kept();
        let gathered =
            or_kept!(self, at, at.place.list(path.as_str(), depth, MAX_LISTED), kept.list(path, depth));
        if gathered.cut {
            let reason = format!("more than {MAX_LISTED} entries; ask for fewer levels");
            return Err(BackendError::File { path: path.to_string(), reason });
        }
        Ok(gathered.entries.into_iter().map(stat).collect())
    }

    async fn stat(&self, path: &SandboxPath) -> Result<FileStat> {
        let kept = self.kept();
        let entry = or_kept!(self, at, at.place.stat(path.as_str()), kept.stat(path));
        Ok(stat(entry))
    }

    async fn make_dir(&self, path: &SandboxPath) -> Result<FileStat> {
        self.check_not_paused()?;
        let _alone = self.0.looking.lock().await;
        for _ in 0..MOST_TRIES {
            let at = match self.spot().await? {
                Spot::There(at) => at,
                Spot::Here(files, _nobody_makes_one) => return files.make_dir(path).await,
            };
            let made = async {
                at.place.make_dir(path.as_str()).await?;
                at.place.stat(path.as_str()).await
            };
            let Some(entry) = self.answer(&at, made.await).await? else { continue };
            let Some(_it_stays) = self.still(&at).await else { continue };
            if is_kept(path) {
                self.0.kept.make_folder(path.as_str(), entry.modified_ms).await?;
                self.0.kept.save().await?;
            }
            return Ok(stat(entry));
        }
        Err(self.0.shared.error(ProviderError::Lost))
    }

    async fn rename(&self, from: &SandboxPath, to: &SandboxPath) -> Result<FileStat> {
        self.check_not_paused()?;
        let _alone = self.0.looking.lock().await;
        for _ in 0..MOST_TRIES {
            let at = match self.spot().await? {
                Spot::There(at) => at,
                Spot::Here(files, _nobody_makes_one) => return files.rename(from, to).await,
            };
            let renamed = async {
                at.place.rename(from.as_str(), to.as_str()).await?;
                at.place.stat(to.as_str()).await
            };
            let Some(entry) = self.answer(&at, renamed.await).await? else { continue };
            let Some(_it_stays) = self.still(&at).await else { continue };
            {
                let mut seen = self.0.lock_seen();
                seen.remove(from.as_str());
                seen.put(&entry);
            }
            match (is_kept(from), is_kept(to)) {
                (true, true) => self.0.kept.rename(from.as_str(), to.as_str()).await?,
                (true, false) => drop(self.0.kept.forget(from.as_str()).await),
                // The next look fetches it.
                (false, _) => {}
            }
            self.0.kept.save().await?;
            return Ok(stat(entry));
        }
        Err(self.0.shared.error(ProviderError::Lost))
    }

    async fn remove(&self, path: &SandboxPath) -> Result<()> {
        self.check_not_paused()?;
        let _alone = self.0.looking.lock().await;
        for _ in 0..MOST_TRIES {
            let at = match self.spot().await? {
                Spot::There(at) => at,
                Spot::Here(files, _nobody_makes_one) => return files.remove(path).await,
            };
            let removed = async {
                at.place.stat(path.as_str()).await?;
                at.place.remove(path.as_str()).await
            };
            let Some(()) = self.answer(&at, removed.await).await? else { continue };
            let Some(_it_stays) = self.still(&at).await else { continue };
            self.0.lock_seen().remove(path.as_str());
            self.0.kept.forget(path.as_str()).await;
            return self.0.kept.save().await;
        }
        Err(self.0.shared.error(ProviderError::Lost))
    }
}

impl std::fmt::Debug for LiveFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("LiveFiles").field(&self.0.id).finish()
    }
}

#[cfg(test)]
#[path = "live_files_tests.rs"]
mod tests;
