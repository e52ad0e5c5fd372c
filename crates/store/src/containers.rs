//! The records of containers: the store is the registry of core's `Containers`.

use async_trait::async_trait;
use rusqlite::Row;
use sandgate_core::{ContainerId, ContainerRecord, Registry, RegistryError};

use crate::pages::all;
use crate::{Result, Store};

#[async_trait]
impl Registry for Store {
    /// In the order they were made; one that cannot be read is named in a warning and left alone.
    async fn load(&self) -> Result<Vec<ContainerRecord>, RegistryError> {
        let read = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
        let rows = self
            .read(move |transaction| {
                all(transaction, "SELECT id, record FROM containers ORDER BY seq", [], read)
            })
            .await?;
        let parsed = rows.into_iter().filter_map(|(id, record)| match serde_json::from_str(&record) {
            Ok(record) => Some(record),
            Err(error) => {
                tracing::warn!(container = id, %error, "skipping a container record that cannot be read");
                None
            }
        });
        Ok(parsed.collect())
    }

    async fn save(&self, record: &ContainerRecord) -> Result<(), RegistryError> {
        let text = serde_json::to_string(record)?;
        let (id, owner) = (record.id.clone(), record.owner.clone());
        self.write(move |transaction| {
            // Not a replacement of the row: that would take the container's files with it.
            let statement = "INSERT INTO containers (id, owner, record) VALUES (?1, ?2, ?3)
                             ON CONFLICT (id) DO UPDATE SET owner = ?2, record = ?3";
            transaction.prepare_cached(statement)?.execute([id.as_str(), owner.as_str(), &text])?;
            Ok(())
        })
        .await?;
        Ok(())
    }

    /// The rows of its files go with it.
    async fn remove(&self, id: &ContainerId) -> Result<(), RegistryError> {
        let id = id.clone();
        self.write(move |transaction| {
            transaction.prepare_cached("DELETE FROM containers WHERE id = ?1")?.execute([id.as_str()])?;
            Ok(())
        })
        .await?;
        Ok(())
    }
}

#[cfg(test)]
#[path = "containers_tests.rs"]
pub(crate) mod tests;
