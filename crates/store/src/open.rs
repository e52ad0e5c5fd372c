//! The handle: opening a home, and handing work to the thread that owns the connection.

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::{Semaphore, mpsc, oneshot};

use crate::files_folder::FilesFolder;
use crate::thread::{self, Job};
use crate::{Result, StoreError, files, migrations};

const DATABASE: &str = "sandgate.db";
/// How long somebody else's write is waited for.
pub(crate) const BUSY: Duration = Duration::from_secs(10);
const SEARCHES: usize = 4;

/// Cheap to clone; the database is closed when the last clone is gone.
#[derive(Clone)]
pub struct Store {
    jobs: mpsc::Sender<Job>,
    pub(crate) folder: Arc<FilesFolder>,
    pub(crate) database: PathBuf,
    /// Searches of the ledger under way at once.
    pub(crate) searches: Arc<Semaphore>,
}

impl Store {
    /// Whether `home` has a database, which opening would make.
    #[must_use]
    pub fn is_in(home: &Path) -> bool {
        home.join(DATABASE).exists()
    }

    /// Opens the database of `home`, making what is missing, and clears away what a crash left.
    pub async fn open(home: &Path) -> Result<Self> {
        Self::open_as(home, true).await
    }

    /// For a command beside the server that may be running on this home: leaves alone what is the server's
    /// to clear away.
    pub async fn open_beside(home: &Path) -> Result<Self> {
        Self::open_as(home, false).await
    }

    async fn open_as(home: &Path, settles: bool) -> Result<Self> {
        let home = home.to_owned();
        let opened = tokio::task::spawn_blocking(move || open_blocking(&home, settles)).await;
        opened.map_err(|_| StoreError::Panicked)?
    }

    /// Jobs that wait for the database now.
    #[must_use]
    pub fn queue_length(&self) -> usize {
        self.jobs.max_capacity().saturating_sub(self.jobs.capacity())
    }

    /// One transaction that only looks.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.run(move |connection| work(&connection.transaction()?)).await
    }

    /// One transaction that is on disk before this returns, or not at all. It is carried out even when
    /// the caller stops waiting, so no caller can leave half of it.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.run(move |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let answer = work(&transaction)?;
            transaction.commit()?;
            Ok(answer)
        })
        .await
    }

    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        let job = thread::job(work, answer);
        self.jobs.send(job).await.map_err(|_| StoreError::Closed)?;
        answered.await.map_err(|_| StoreError::Closed)?
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("files", &self.folder.path()).finish_non_exhaustive()
    }
}

fn open_blocking(home: &Path, settles: bool) -> Result<Store> {
    fs::create_dir_all(home)?;
    let files = home.join("files");
    DirBuilder::new().recursive(true).mode(0o700).create(&files)?;
    let database = home.join(DATABASE);
    // SQLite would let others read it; its side files take the mode of this one.
    drop(OpenOptions::new().create(true).append(true).mode(0o600).open(&database)?);

    let mut connection = Connection::open(&database)?;
    prepare(&connection)?;
    migrations::migrate(&mut connection, migrations::ALL)?;
    let folder = FilesFolder::new(files, if settles { lock(home)? } else { None });
    // Another store on this home may be writing drafts; they are not ours to remove then.
    if folder.is_ours() {
        files::settle(&connection, &folder)?;
    }
    let jobs = thread::start(connection)?;
    let searches = Arc::new(Semaphore::new(SEARCHES));
    Ok(Store { jobs, folder: Arc::new(folder), database, searches })
}

fn prepare(connection: &Connection) -> Result<()> {
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // With WAL this loses nothing when the process dies. A power cut may lose the last commits, never
    // the order of them.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // One large transaction must not leave a log that stays large.
    connection.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024)?;
    connection.set_prepared_statement_cache_capacity(128);
    Ok(())
}

/// None: somebody else holds it. The lock goes with the handle, however the process ends.
fn lock(home: &Path) -> Result<Option<File>> {
    let mut options = OpenOptions::new();
    let file = options.create(true).append(true).mode(0o600).open(home.join("store.lock"))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(fs::TryLockError::WouldBlock) => Ok(None),
        Err(fs::TryLockError::Error(error)) => Err(error.into()),
    }
}

#[cfg(test)]
#[path = "open_tests.rs"]
mod tests;
