//! The files of a container as clients know them: each has an id (`cfile_…`) that stays the same for
//! as long as there is a file at its path. The container's own folder is the truth; rows follow it.

use sandgate_core::{
    BackendError, ByteRange, Container, FileContent, FileKind, FileStat, Owner, SandboxPath, now_seconds,
    random_hex,
};
use sandgate_store::{ContainerFileRecord, Store, StoreError};
use tokio::io::AsyncRead;

use crate::file_name::clean_file_name;
use crate::plain_files::{plain_file, plain_files};

/// Put there by whoever holds the container.
const BY_USER: &str = "user";
/// Made by code the model wrote.
const BY_ASSISTANT: &str = "assistant";

type Result<T, E = ContainerFilesError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum ContainerFilesError {
    /// By this id there is nothing in the container, or nothing of this owner.
    #[error("no such file: {0}")]
    NoSuchFile(String),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Backend(#[from] BackendError),
}

#[derive(Clone, Debug)]
pub struct ContainerFiles {
    store: Store,
}

impl ContainerFiles {
    #[must_use]
    pub fn new(store: Store) -> Self {
        Self { store }
    }

    /// Every plain file below `/mnt/data`, in the order they were first seen, by path where that was at
    /// the same time. Files not seen before get their id now; ids of
    /// files that are gone are forgotten.
    pub async fn list(&self, container: &Container) -> Result<Vec<ContainerFileRecord>> {
        let files = container.files().await?;
        let mut found = plain_files(&*files).await?;
        let mut listed = Vec::with_capacity(found.len());
        for row in self.store.container_files(container.id()).await? {
            let stat = match found.remove(&row.path) {
                Some(stat) => Some(stat),
                // Beyond the bound, or reached through a linked folder: gone only if it really is.
                None => plain_file(&*files, &row.path).await?,
            };
            match stat {
                Some(stat) => listed.push(self.refreshed(row, &stat).await?),
                None => self.forget(container, &row.id).await?,
            }
        }
        for stat in found.into_values() {
            let row = record(container, file_id(), BY_ASSISTANT, &stat);
            listed.push(self.store.put_container_file(&row).await?);
        }
        Ok(listed)
    }

    /// The plain file at `path` below `/mnt/data`; None when there is none.
    pub async fn of_path(&self, container: &Container, path: &str) -> Result<Option<ContainerFileRecord>> {
        let files = container.files().await?;
        let Some(stat) = plain_file(&*files, path).await? else { return Ok(None) };
        self.row(container, BY_ASSISTANT, &stat).await.map(Some)
    }

    /// A file of the client's own.
    pub async fn upload(
        &self,
        container: &Container,
        filename: &str,
        content: &mut (dyn AsyncRead + Send + Unpin),
    ) -> Result<ContainerFileRecord> {
        let id = file_id();
        let hex = id.trim_start_matches("cfile_");
        let path = format!("{}/{hex}-{}", SandboxPath::WORKING_DIR, clean_file_name(filename));
        self.write(container, id, BY_USER, &path, content).await
    }

    /// A copy of one of the owner's files. Again changes nothing, unless the copy was changed or removed.
    pub async fn place(
        &self,
        container: &Container,
        owner: &Owner,
        file: &str,
    ) -> Result<ContainerFileRecord> {
        let (record, mut content) =
            self.store.open_file(owner, file).await.map_err(|error| missing(error, file))?;
        let name = clean_file_name(&record.filename);
        let path = format!("{}/{}-{name}", SandboxPath::WORKING_DIR, record.id);
        let files = container.files().await?;
        match plain_file(&*files, &path).await? {
            Some(stat) if stat.size == record.bytes => self.row(container, BY_USER, &stat).await,
            Some(_) | None => self.write(container, file_id(), BY_USER, &path, &mut content).await,
        }
    }

    /// A figure that code showed. Its name is its id, by which messages cite it.
    pub async fn add_image(&self, container: &Container, png: &[u8]) -> Result<ContainerFileRecord> {
        let id = file_id();
        let path = format!("{}/{id}.png", SandboxPath::WORKING_DIR);
        let mut content = png;
        self.write(container, id, BY_ASSISTANT, &path, &mut content).await
    }

    pub async fn get(&self, container: &Container, id: &str) -> Result<ContainerFileRecord> {
        let (row, stat) = self.existing(container, id).await?;
        self.refreshed(row, &stat).await
    }

    pub async fn open(
        &self,
        container: &Container,
        id: &str,
        range: Option<ByteRange>,
    ) -> Result<(ContainerFileRecord, FileContent)> {
        let (row, _) = self.existing(container, id).await?;
        let path = SandboxPath::parse(&row.path)?;
        let content = container.files().await?.open(&path, range).await.map_err(|error| gone(error, id))?;
        Ok((row, content))
    }

    pub async fn remove(&self, container: &Container, id: &str) -> Result<()> {
        let (row, _) = self.existing(container, id).await?;
        let path = SandboxPath::parse(&row.path)?;
        container.files().await?.remove(&path).await.map_err(|error| gone(error, id))?;
        self.forget(container, id).await
    }

    /// The row of `id` and what is at its path; the row goes if nothing is.
    async fn existing(&self, container: &Container, id: &str) -> Result<(ContainerFileRecord, FileStat)> {
        let row = self.store.container_file(container.id(), id).await.map_err(|error| missing(error, id))?;
        let files = container.files().await?;
        match plain_file(&*files, &row.path).await? {
            Some(stat) => Ok((row, stat)),
            None => {
                self.forget(container, id).await?;
                Err(ContainerFilesError::NoSuchFile(id.to_owned()))
            }
        }
    }

    async fn write(
        &self,
        container: &Container,
        id: String,
        source: &str,
        path: &str,
        content: &mut (dyn AsyncRead + Send + Unpin),
    ) -> Result<ContainerFileRecord> {
        let place = SandboxPath::parse(path)?;
        // The row comes first: somebody who lists meanwhile must not give the file another id, nor
        // take it for the model's work.
        let expected = FileStat {
            path: path.to_owned(),
            kind: FileKind::File,
            size: 0,
            mode: 0,
            modified_ms: i64::try_from(now_seconds().saturating_mul(1000)).unwrap_or(i64::MAX),
            link_target: None,
        };
        let row = self.store.put_container_file(&record(container, id, source, &expected)).await?;
        match container.files().await?.write(&place, content).await {
            Ok(stat) => self.refreshed(row, &stat).await,
            Err(error) => {
                self.forget(container, &row.id).await?;
                Err(error.into())
            }
        }
    }

    /// The row of a file that is there, made if it is not known yet. Whose it was it stays.
    async fn row(&self, container: &Container, source: &str, stat: &FileStat) -> Result<ContainerFileRecord> {
        let rows = self.store.container_files(container.id()).await?;
        match rows.into_iter().find(|row| row.path == stat.path) {
            Some(row) => self.refreshed(row, stat).await,
            None => {
                let row = record(container, file_id(), source, stat);
                Ok(self.store.put_container_file(&row).await?)
            }
        }
    }

    /// The row as the file is now.
    async fn refreshed(&self, row: ContainerFileRecord, stat: &FileStat) -> Result<ContainerFileRecord> {
        if (row.bytes, row.modified_ms) == (stat.size, stat.modified_ms) {
            return Ok(row);
        }
        let row = ContainerFileRecord { bytes: stat.size, modified_ms: stat.modified_ms, ..row };
        Ok(self.store.put_container_file(&row).await?)
    }

    async fn forget(&self, container: &Container, id: &str) -> Result<()> {
        match self.store.remove_container_file(container.id(), id).await {
            Ok(()) | Err(StoreError::NotFound) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

fn file_id() -> String {
    format!("cfile_{}", random_hex(16))
}

fn record(container: &Container, id: String, source: &str, stat: &FileStat) -> ContainerFileRecord {
    // Code can give its files any date; none is from the future.
    let seconds = u64::try_from(stat.modified_ms / 1000).unwrap_or(0).min(now_seconds());
    ContainerFileRecord {
        id,
        container: container.id().clone(),
        path: stat.path.clone(),
        source: source.to_owned(),
        created_at: seconds,
        bytes: stat.size,
        modified_ms: stat.modified_ms,
    }
}

/// The store's "not there" with the id that was asked for.
fn missing(error: StoreError, id: &str) -> ContainerFilesError {
    match error {
        StoreError::NotFound => ContainerFilesError::NoSuchFile(id.to_owned()),
        other => other.into(),
    }
}

/// Removed in the moment between looking and touching.
fn gone(error: BackendError, id: &str) -> ContainerFilesError {
    match error {
        BackendError::NoSuchFile(_) => ContainerFilesError::NoSuchFile(id.to_owned()),
        other => other.into(),
    }
}

#[cfg(test)]
#[path = "container_files_tests.rs"]
mod tests;
