//! Which containers there are, one small JSON file each, so that they survive any end of the server.

use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};
use std::{fs, io};

use serde::{Deserialize, Serialize};

use crate::{ContainerId, SandboxId, SandboxSpec};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContainerRecord {
    pub id: ContainerId,
    pub backend: String,
    pub sandbox: SandboxId,
    pub name: Option<String>,
    /// Seconds since 1970.
    pub created_at: u64,
    /// Idle seconds after which its processes are given back.
    pub idle_seconds: u64,
    pub spec: SandboxSpec,
}

/// A folder of records. Each write is a new file renamed into place, so a crash leaves the old or the new.
#[derive(Debug)]
pub struct Registry {
    folder: PathBuf,
}

impl Registry {
    pub fn open(folder: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&folder)?;
        Ok(Self { folder })
    }

    /// All records; a file that cannot be read as one is named in a warning and left alone.
    pub fn load(&self) -> io::Result<Vec<ContainerRecord>> {
        let mut records = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if path.extension().is_none_or(|ending| ending != "json") {
                continue;
            }
            match serde_json::from_slice(&fs::read(&path)?) {
                Ok(record) => records.push(record),
                Err(error) => {
                    tracing::warn!(path = %path.display(), %error, "skipping a container record that cannot be read")
                }
            }
        }
        Ok(records)
    }

    pub fn save(&self, record: &ContainerRecord) -> io::Result<()> {
        let target = self.path(&record.id);
        let draft = target.with_extension("draft");
        let mut file = fs::File::create(&draft)?;
        serde_json::to_writer(&mut file, record)?;
        file.flush()?;
        fs::rename(&draft, &target)
    }

    pub fn remove(&self, id: &ContainerId) -> io::Result<()> {
        match fs::remove_file(self.path(id)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn path(&self, id: &ContainerId) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }
}

pub(crate) fn now_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
