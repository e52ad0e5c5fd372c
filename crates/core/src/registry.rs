//! Which containers there are, kept somewhere that survives any end of the server.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ContainerId, Owner, SandboxId, SandboxSpec};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContainerRecord {
    pub id: ContainerId,
    pub owner: Owner,
    pub backend: String,
    pub sandbox: SandboxId,
    pub name: Option<String>,
    /// Seconds since 1970.
    pub created_at: u64,
    /// Seconds since 1970 of its last use.
    pub last_active_at: u64,
    /// Idle seconds after which its processes are given back.
    pub idle_seconds: u64,
    pub spec: SandboxSpec,
    /// As its maker wrote it (`1g`), to be said back.
    #[serde(default)]
    pub memory_limit: Option<String>,
    /// As its maker wrote it, without secrets, to be said back.
    #[serde(default)]
    pub network_policy: Option<Value>,
    /// It is there to be copied, not to be used: it is not in lists.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unlisted: bool,
    /// The session of its owner's that goes on in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// Why a registry could not be read or written; only ever shown.
pub type RegistryError = Box<dyn std::error::Error + Send + Sync>;

/// Where records live. What was saved is there after a crash.
#[async_trait]
pub trait Registry: Send + Sync + std::fmt::Debug {
    async fn load(&self) -> Result<Vec<ContainerRecord>, RegistryError>;
    /// Adds the record or replaces the one with its id.
    async fn save(&self, record: &ContainerRecord) -> Result<(), RegistryError>;
    /// No error when there is none.
    async fn remove(&self, id: &ContainerId) -> Result<(), RegistryError>;
}

/// Records for as long as the process lives: for tests, and for programs that keep nothing.
#[derive(Debug, Default)]
pub struct MemoryRegistry(Mutex<BTreeMap<ContainerId, ContainerRecord>>);

impl MemoryRegistry {
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<ContainerId, ContainerRecord>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Registry for MemoryRegistry {
    async fn load(&self) -> Result<Vec<ContainerRecord>, RegistryError> {
        Ok(self.lock().values().cloned().collect())
    }

    async fn save(&self, record: &ContainerRecord) -> Result<(), RegistryError> {
        self.lock().insert(record.id.clone(), record.clone());
        Ok(())
    }

    async fn remove(&self, id: &ContainerId) -> Result<(), RegistryError> {
        self.lock().remove(id);
        Ok(())
    }
}

pub(crate) fn now_micros() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// Seconds since 1970.
#[must_use]
pub fn now_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
