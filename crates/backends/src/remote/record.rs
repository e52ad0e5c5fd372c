//! What is written down of a remote sandbox, so that another run of this gate finds it again: where it is, and
//! which contexts it has.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use sandgate_core::{Result, SandboxId};
use serde::{Deserialize, Serialize};

use super::durable::write_whole;
use super::kept::failed;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The name of the backend in the configuration.
    pub(super) backend: String,
    /// The provider's id of it; None while there is none.
    pub(super) place: Option<String>,
    #[serde(default)]
    pub(super) contexts: Vec<ContextRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ContextRecord {
    pub(super) id: String,
    pub(super) language: String,
    pub(super) cwd: String,
    /// The provider's id of it.
    pub(super) remote: Option<String>,
    /// What its interpreter was taught to begin with when it tells something.
    pub(super) token: Option<String>,
    /// So many runs were the gate's own.
    #[serde(default)]
    pub(super) taught: u64,
    /// Code ran in it.
    pub(super) used: bool,
}

/// All remote sandboxes of this home, whichever backend they are on.
#[derive(Clone, Debug)]
pub struct Records(PathBuf);

impl Records {
    #[must_use]
    pub fn new(home: &Path) -> Self {
        Self(home.join("remote"))
    }

    pub(super) fn folder(&self, id: &SandboxId) -> PathBuf {
        self.0.join(id.as_str())
    }

    pub(super) async fn load(&self, id: &SandboxId) -> Result<Option<Record>> {
        self.read(id)
            .await
            .map_err(failed)?
            .map(|read| read.map_err(|error| failed(error.into())))
            .transpose()
    }

    /// The inner error: it is there, and makes no sense.
    async fn read(&self, id: &SandboxId) -> std::io::Result<Option<serde_json::Result<Record>>> {
        match tokio::fs::read(self.folder(id).join("place.json")).await {
            Ok(text) => Ok(Some(serde_json::from_slice(&text))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn create(&self, id: &SandboxId, record: &Record) -> Result<()> {
        self.make_room(id).await?;
        self.save(id, record).await
    }

    /// So that there is something to write to.
    pub(super) async fn make_room(&self, id: &SandboxId) -> Result<()> {
        tokio::fs::create_dir_all(self.folder(id)).await.map_err(failed)
    }

    /// Of one that is there: who comes after its end writes down nothing.
    pub(super) async fn save(&self, id: &SandboxId, record: &Record) -> Result<()> {
        let text = serde_json::to_vec(record).map_err(|error| failed(error.into()))?;
        match write_whole(self.folder(id).join("place.json"), text).await {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(failed(error)),
            _ => Ok(()),
        }
    }

    pub(super) async fn remove(&self, id: &SandboxId) -> Result<()> {
        match tokio::fs::remove_dir_all(self.folder(id)).await {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(failed(error)),
            _ => Ok(()),
        }
    }

    /// Every sandbox that is written down.
    pub(super) async fn all(&self) -> Result<Vec<(SandboxId, Record)>> {
        let mut found = Vec::new();
        let mut folders = match tokio::fs::read_dir(&self.0).await {
            Ok(folders) => folders,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(found),
            Err(error) => return Err(failed(error)),
        };
        while let Some(folder) = folders.next_entry().await.map_err(failed)? {
            let name = folder.file_name();
            let Some(id) = name.to_str().and_then(|name| SandboxId::parse(name).ok()) else { continue };
            match self.read(&id).await.map_err(failed)? {
                Some(Ok(record)) => found.push((id, record)),
                None => {}
                // It will never make sense, and keeps nobody from the others.
                Some(Err(error)) => tracing::warn!(sandbox = %id, %error, "a remote sandbox is forgotten"),
            }
        }
        Ok(found)
    }

    /// The name that this gate's sandboxes carry at every provider, made once.
    pub async fn gate_id(&self) -> Result<String> {
        let path = self.0.join(".gate");
        match tokio::fs::read_to_string(&path).await {
            Ok(id) if !id.trim().is_empty() => Ok(id.trim().to_owned()),
            Ok(_) => self.new_gate_id(&path).await,
            Err(error) if error.kind() == ErrorKind::NotFound => self.new_gate_id(&path).await,
            Err(error) => Err(failed(error)),
        }
    }

    async fn new_gate_id(&self, path: &Path) -> Result<String> {
        let id = sandgate_core::random_hex(16);
        tokio::fs::create_dir_all(&self.0).await.map_err(failed)?;
        write_whole(path.to_owned(), id.clone().into_bytes()).await.map_err(failed)?;
        Ok(id)
    }
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
