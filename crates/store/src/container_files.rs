//! The ids of files inside containers. The files themselves are in the container; a row only gives one
//! an id that stays. Whoever calls this has checked whose container it is.

use rusqlite::{Row, Transaction, params};
use sandgate_core::ContainerId;

use crate::pages::{all, first, signed};
use crate::{Result, Store, StoreError};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerFileRecord {
    pub id: String,
    pub container: ContainerId,
    pub path: String,
    /// `user` or `assistant`.
    pub source: String,
    /// Seconds since 1970.
    pub created_at: u64,
    pub bytes: u64,
    pub modified_ms: i64,
}

const SELECT: &str = "SELECT id, path, source, created_at, bytes, modified_ms FROM container_files";

impl Store {
    /// In the order they came.
    pub async fn container_files(&self, container: &ContainerId) -> Result<Vec<ContainerFileRecord>> {
        let container = container.clone();
        self.read(move |transaction| {
            let text = format!("{SELECT} WHERE container = ?1 ORDER BY seq");
            all(transaction, &text, [container.as_str()], |row| read(row, &container))
        })
        .await
    }

    pub async fn container_file(&self, container: &ContainerId, id: &str) -> Result<ContainerFileRecord> {
        let (container, id) = (container.clone(), id.to_owned());
        self.read(move |transaction| {
            let text = format!("{SELECT} WHERE container = ?1 AND id = ?2");
            first(transaction, &text, [container.as_str(), &id], |row| read(row, &container))
        })
        .await
    }

    /// Adds the file, or brings the one at its path up to date, which keeps its id and the time it was
    /// created. Gives back what is stored. [`StoreError::NotFound`]: there is no record of the container.
    pub async fn put_container_file(&self, record: &ContainerFileRecord) -> Result<ContainerFileRecord> {
        let record = record.clone();
        self.write(move |transaction| put(transaction, &record)).await
    }

    pub async fn remove_container_file(&self, container: &ContainerId, id: &str) -> Result<()> {
        let (container, id) = (container.clone(), id.to_owned());
        self.write(move |transaction| {
            let text = "DELETE FROM container_files WHERE container = ?1 AND id = ?2";
            match transaction.prepare_cached(text)?.execute([container.as_str(), &id])? {
                0 => Err(StoreError::NotFound),
                _ => Ok(()),
            }
        })
        .await
    }
}

fn put(transaction: &Transaction<'_>, record: &ContainerFileRecord) -> Result<ContainerFileRecord> {
    let container = record.container.as_str();
    first(transaction, "SELECT 1 FROM containers WHERE id = ?1", [container], |_| Ok(()))?;
    let text = "INSERT INTO container_files (id, container, path, source, created_at, bytes, modified_ms)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                ON CONFLICT (container, path) DO UPDATE SET source = ?4, bytes = ?6, modified_ms = ?7
                ON CONFLICT (id) DO NOTHING";
    let saved = transaction.prepare_cached(text)?.execute(params![
        record.id,
        container,
        record.path,
        record.source,
        signed(record.created_at),
        signed(record.bytes),
        record.modified_ms
    ])?;
    if saved == 0 {
        return Err(StoreError::Exists);
    }
    let text = format!("{SELECT} WHERE container = ?1 AND path = ?2");
    first(transaction, &text, [container, &record.path], |row| read(row, &record.container))
}

fn read(row: &Row<'_>, container: &ContainerId) -> Result<ContainerFileRecord> {
    Ok(ContainerFileRecord {
        id: row.get(0)?,
        container: container.clone(),
        path: row.get(1)?,
        source: row.get(2)?,
        created_at: row.get(3)?,
        bytes: row.get(4)?,
        modified_ms: row.get(5)?,
    })
}

#[cfg(test)]
#[path = "container_files_tests.rs"]
mod tests;
