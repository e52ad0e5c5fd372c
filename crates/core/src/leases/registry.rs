//! Where leases are kept, so that they survive any end of the server.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use super::Lease;
use crate::RegistryError;

/// What was saved is there after a crash.
#[async_trait]
pub trait LeaseRegistry: Send + Sync + std::fmt::Debug {
    async fn leases(&self) -> Result<Vec<Lease>, RegistryError>;
    /// Adds the lease or replaces the one with its id.
    async fn save_lease(&self, lease: &Lease) -> Result<(), RegistryError>;
    /// No error when there is none.
    async fn remove_lease(&self, id: &str) -> Result<(), RegistryError>;
}

/// Leases for as long as the process lives.
#[derive(Debug, Default)]
pub struct MemoryLeases(Mutex<BTreeMap<String, Lease>>);

impl MemoryLeases {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Lease>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl LeaseRegistry for MemoryLeases {
    async fn leases(&self) -> Result<Vec<Lease>, RegistryError> {
        Ok(self.lock().values().cloned().collect())
    }

    async fn save_lease(&self, lease: &Lease) -> Result<(), RegistryError> {
        self.lock().insert(lease.id.clone(), lease.clone());
        Ok(())
    }

    async fn remove_lease(&self, id: &str) -> Result<(), RegistryError> {
        self.lock().remove(id);
        Ok(())
    }
}
