//! The store as the registry of core's `Leases`.

use async_trait::async_trait;
use rusqlite::Row;
use sandgate_core::{Lease, LeaseRegistry, RegistryError};

use crate::pages::all;
use crate::{Result, Store};

#[async_trait]
impl LeaseRegistry for Store {
    /// One that cannot be read is named in a warning and left alone.
    async fn leases(&self) -> Result<Vec<Lease>, RegistryError> {
        let read = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
        let rows =
            self.read(move |transaction| all(transaction, "SELECT id, record FROM leases", [], read)).await?;
        let parsed = rows.into_iter().filter_map(|(id, record)| match serde_json::from_str(&record) {
            Ok(lease) => Some(lease),
            Err(error) => {
                tracing::warn!(lease = id, %error, "skipping a lease that cannot be read");
                None
            }
        });
        Ok(parsed.collect())
    }

    async fn save_lease(&self, lease: &Lease) -> Result<(), RegistryError> {
        let text = serde_json::to_string(lease)?;
        let (id, container) = (lease.id.clone(), lease.container.clone());
        self.write(move |transaction| {
            let statement = "INSERT INTO leases (id, container, record) VALUES (?1, ?2, ?3)
                             ON CONFLICT (id) DO UPDATE SET container = ?2, record = ?3";
            transaction.prepare_cached(statement)?.execute([&id, container.as_str(), &text])?;
            Ok(())
        })
        .await?;
        Ok(())
    }

    async fn remove_lease(&self, id: &str) -> Result<(), RegistryError> {
        let id = id.to_owned();
        self.write(move |transaction| {
            transaction.prepare_cached("DELETE FROM leases WHERE id = ?1")?.execute([id])?;
            Ok(())
        })
        .await?;
        Ok(())
    }
}

#[cfg(test)]
#[path = "leases_tests.rs"]
mod tests;
