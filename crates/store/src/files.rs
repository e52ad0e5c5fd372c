//! Files that clients upload: a row each, and a content in the folder.
//!
//! A content without a row is what a crash leaves in the middle of adding or deleting; it is removed at
//! the next opening. A row without its content, or with one of another length, comes only from outside
//! (a power cut, somebody's hand); it is removed at the next opening, and until then it opens as missing.

use std::sync::Arc;

use rusqlite::{Connection, Row, Transaction, named_params, params};
use sandgate_core::{Owner, now_seconds, random_alphanumeric};
use tokio::io::AsyncRead;

use crate::files_folder::{Draft, FilesFolder};
use crate::pages::{List, all, first, signed};
use crate::{Listed, Page, Result, Store, StoreError};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRecord {
    pub id: String,
    pub owner: Owner,
    pub filename: String,
    pub purpose: String,
    pub bytes: u64,
    /// Seconds since 1970.
    pub created_at: u64,
    /// Seconds since 1970; from then on it is not there for anybody.
    pub expires_at: Option<u64>,
}

/// A content on disk that is nobody's file yet. Dropping it removes it.
#[derive(Debug)]
pub struct StagedFile {
    id: String,
    draft: Draft,
    pub bytes: u64,
}

const COLUMNS: &str = "id, owner, filename, purpose, bytes, created_at, expires_at";

const FILES: List = List {
    columns: COLUMNS,
    from: "files",
    filter: "owner = :owner AND (:purpose IS NULL OR purpose = :purpose)
             AND (expires_at IS NULL OR expires_at > :now)",
    id: "id",
    order: "seq",
};

impl Store {
    /// Takes `content` to its end. More than `limit_bytes` of it is [`StoreError::FileTooLarge`].
    pub async fn add_file(
        &self,
        owner: &Owner,
        filename: &str,
        purpose: &str,
        expires_after_seconds: Option<u64>,
        content: impl AsyncRead + Send,
        limit_bytes: u64,
    ) -> Result<FileRecord> {
        let staged = self.stage_file(content, limit_bytes).await?;
        self.keep_file(staged, owner, filename, purpose, expires_after_seconds).await
    }

    /// The content alone, for those who learn the rest only after it.
    pub async fn stage_file(&self, content: impl AsyncRead + Send, limit_bytes: u64) -> Result<StagedFile> {
        let id = format!("file-{}", random_alphanumeric(22));
        let (draft, bytes) = self.folder.draft(&id, content, limit_bytes).await?;
        Ok(StagedFile { id, draft, bytes })
    }

    pub async fn keep_file(
        &self,
        staged: StagedFile,
        owner: &Owner,
        filename: &str,
        purpose: &str,
        expires_after_seconds: Option<u64>,
    ) -> Result<FileRecord> {
        let StagedFile { id, draft, bytes } = staged;
        let created_at = now_seconds();
        let record = FileRecord {
            id,
            owner: owner.clone(),
            filename: filename.to_owned(),
            purpose: purpose.to_owned(),
            bytes,
            created_at,
            expires_at: expires_after_seconds.map(|seconds| created_at.saturating_add(seconds)),
        };
        let folder = Arc::clone(&self.folder);
        // The draft goes with the job: a caller that stops waiting cannot part the row from its content.
        self.run(move |connection| {
            let transaction = connection.transaction()?;
            insert(&transaction, &record)?;
            draft.keep_as(&folder.content(&record.id))?;
            if let Err(error) = transaction.commit() {
                folder.remove(&record.id);
                return Err(error.into());
            }
            Ok(record)
        })
        .await
    }

    pub async fn file(&self, owner: &Owner, id: &str) -> Result<FileRecord> {
        let (owner, id) = (owner.clone(), id.to_owned());
        self.read(move |transaction| {
            let text = format!(
                "SELECT {COLUMNS} FROM files
                 WHERE owner = ?1 AND id = ?2 AND (expires_at IS NULL OR expires_at > ?3)"
            );
            first(transaction, &text, params![owner.as_str(), id, now_seconds()], read_file)
        })
        .await
    }

    pub async fn files(
        &self,
        owner: &Owner,
        purpose: Option<&str>,
        page: &Page,
    ) -> Result<Listed<FileRecord>> {
        let (owner, purpose, page) = (owner.clone(), purpose.map(str::to_owned), page.clone());
        self.read(move |transaction| {
            let named =
                named_params! { ":owner": owner.as_str(), ":purpose": purpose, ":now": now_seconds() };
            FILES.page(transaction, named, &page, read_file)
        })
        .await
    }

    /// The content stays readable through the handle when the file is deleted meanwhile.
    pub async fn open_file(&self, owner: &Owner, id: &str) -> Result<(FileRecord, tokio::fs::File)> {
        let record = self.file(owner, id).await?;
        match self.folder.open(id).await {
            Ok(content) => Ok((record, content)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                tracing::warn!(file = id, "the content of a file is missing");
                Err(StoreError::NotFound)
            }
            Err(error) => Err(error.into()),
        }
    }

    pub async fn delete_file(&self, owner: &Owner, id: &str) -> Result<()> {
        let (owner, id) = (owner.clone(), id.to_owned());
        let folder = Arc::clone(&self.folder);
        self.run(move |connection| {
            let text = "DELETE FROM files WHERE owner = ?1 AND id = ?2";
            if connection.prepare_cached(text)?.execute([owner.as_str(), &id])? == 0 {
                return Err(StoreError::NotFound);
            }
            folder.remove(&id);
            Ok(())
        })
        .await
    }

    /// How many there were; call now and then.
    pub async fn remove_expired_files(&self) -> Result<usize> {
        let folder = Arc::clone(&self.folder);
        self.run(move |connection| {
            let text = "DELETE FROM files WHERE expires_at <= ?1 RETURNING id";
            let gone: Vec<String> = all(connection, text, [now_seconds()], |row| Ok(row.get(0)?))?;
            for id in &gone {
                folder.remove(id);
            }
            Ok(gone.len())
        })
        .await
    }
}

/// Makes rows and contents agree after a crash. Only while nobody else uses the folder.
pub(crate) fn settle(connection: &Connection, folder: &FilesFolder) -> Result<()> {
    let read = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, u64>(1)?));
    for (id, bytes) in all(connection, "SELECT id, bytes FROM files", [], read)? {
        if folder.length(&id)? != Some(bytes) {
            tracing::warn!(file = id, "removing a file whose content is missing or cut short");
            connection.execute("DELETE FROM files WHERE id = ?1", [&id])?;
        }
    }
    folder.clear(|id| {
        let text = "SELECT EXISTS (SELECT 1 FROM files WHERE id = ?1)";
        first(connection, text, [id], |row| Ok(row.get(0)?))
    })
}

fn insert(transaction: &Transaction<'_>, record: &FileRecord) -> Result<()> {
    let text = "INSERT INTO files (id, owner, filename, purpose, bytes, created_at, expires_at)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    transaction.prepare_cached(text)?.execute(params![
        record.id,
        record.owner.as_str(),
        record.filename,
        record.purpose,
        record.bytes,
        record.created_at,
        record.expires_at.map(signed)
    ])?;
    Ok(())
}

fn read_file(row: &Row<'_>) -> Result<FileRecord> {
    Ok(FileRecord {
        id: row.get(0)?,
        owner: Owner::from_stored(row.get(1)?),
        filename: row.get(2)?,
        purpose: row.get(3)?,
        bytes: row.get(4)?,
        created_at: row.get(5)?,
        expires_at: row.get(6)?,
    })
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
