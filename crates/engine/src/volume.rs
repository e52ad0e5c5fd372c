//! The files of one sandbox on the host's disk, and the slot of ids they belong to.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::io::Errno;
use sandgate_core::SandboxId;

use crate::files::copy::{Bounds, CopyError, copy_tree};
use crate::files::remove::{open_folder, remove_all};
use crate::ids::IdRange;

/// Folders of a volume that a sandbox sees, at the same paths.
const SHOWN: [&str; 2] = ["mnt/data", "home/user"];
/// Present while a volume waits in the pool: nobody has heard of it, so a crash may forget it.
const UNCLAIMED: &str = "unclaimed";
const SLOT: &str = "slot";

/// The folder of all volumes.
#[derive(Debug)]
pub(crate) struct Volumes {
    folder: PathBuf,
    ids: IdRange,
    slots: Mutex<BTreeSet<u32>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Volume {
    pub(crate) id: SandboxId,
    pub(crate) slot: u32,
    folder: PathBuf,
}

impl Volumes {
    /// Picks up what earlier runs left; forgets volumes that were never handed out.
    pub(crate) fn open(folder: PathBuf, ids: IdRange) -> io::Result<Self> {
        fs::create_dir_all(&folder)?;
        // Others may pass through, not list: sandboxes' PID 1 mounts their own folder from here.
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o711))?;
        let volumes = Self { folder, ids, slots: Mutex::default() };
        for entry in fs::read_dir(&volumes.folder)? {
            let path = entry?.path();
            let Some(id) =
                path.file_name().and_then(|name| name.to_str()).and_then(|name| SandboxId::parse(name).ok())
            else {
                continue;
            };
            if path.join(UNCLAIMED).exists() {
                remove_all(&path)?;
            } else if let Ok(volume) = volumes.find(&id) {
                volumes.taken().insert(volume.slot);
            }
        }
        Ok(volumes)
    }

    fn taken(&self) -> std::sync::MutexGuard<'_, BTreeSet<u32>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An empty volume that counts as unclaimed.
    pub(crate) fn make(&self) -> io::Result<Volume> {
        let slot = self.take_slot().ok_or_else(|| io::Error::other("all id slots are taken"))?;
        let id = SandboxId::random();
        let volume = Volume { folder: self.folder.join(id.as_str()), id, slot };
        let made = self.lay_out(&volume);
        if made.is_err() {
            self.remove(&volume)?;
        }
        made.map(|()| volume)
    }

    fn lay_out(&self, volume: &Volume) -> io::Result<()> {
        fs::create_dir(&volume.folder)?;
        fs::set_permissions(&volume.folder, fs::Permissions::from_mode(0o711))?;
        fs::write(volume.folder.join(UNCLAIMED), "")?;
        fs::write(volume.folder.join(SLOT), volume.slot.to_string())?;
        for shown in SHOWN {
            let path = volume.root().join(shown);
            fs::create_dir_all(&path)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
            if let Some(user) = self.ids.host_user(volume.slot) {
                chown(&path, Some(user), Some(user))?;
            }
        }
        Ok(())
    }

    /// A volume over a copy of the files of another, which counts as unclaimed. Nothing is left of one that
    /// fails.
    pub(crate) fn copy(&self, from: &Volume, bounds: Bounds<'_>) -> Result<Volume, CopyError> {
        let failed = |error: io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
        let volume = self.make().map_err(failed)?;
        let copied = open_folder(&from.root()).and_then(|source| Ok((source, open_folder(&volume.root())?)));
        let copied = copied.map_err(|error| failed(error).into()).and_then(|(source, made)| {
            copy_tree(source.as_fd(), made.as_fd(), &SHOWN, self.ids.host_user(volume.slot), bounds)
        });
        if copied.is_err()
            && let Err(error) = self.remove(&volume)
        {
            tracing::warn!(%error, "the files of a copy that failed are left until the next start");
        }
        copied.map(|()| volume)
    }

    fn take_slot(&self) -> Option<u32> {
        let mut taken = self.taken();
        // The lowest free one; the set is small and this is off the hot path.
        let gap = taken.iter().copied().zip(0u32..).find(|(slot, at)| slot != at).map(|(_, at)| at);
        let slot = gap.or_else(|| u32::try_from(taken.len()).ok()).filter(|slot| *slot < self.ids.slots())?;
        taken.insert(slot);
        Some(slot)
    }

    pub(crate) fn find(&self, id: &SandboxId) -> io::Result<Volume> {
        let folder = self.folder.join(id.as_str());
        let slot = fs::read_to_string(folder.join(SLOT))?;
        let slot = slot.trim().parse().map_err(|_| io::Error::other("the volume's slot file is damaged"))?;
        Ok(Volume { id: id.clone(), slot, folder })
    }

    /// From here on the volume survives a crash.
    pub(crate) fn claim(&self, volume: &Volume) -> io::Result<()> {
        fs::remove_file(volume.folder.join(UNCLAIMED))
    }

    /// Removes the files for good. Nothing may run in the sandbox any more.
    pub(crate) fn remove(&self, volume: &Volume) -> io::Result<()> {
        remove_all(&volume.folder)?;
        self.taken().remove(&volume.slot);
        Ok(())
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn ids(&self) -> &IdRange {
        &self.ids
    }
}

impl Volume {
    /// Holds `mnt/data` and `home/user`, so that a path inside is the same path below this.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.join("root")
    }
}

#[cfg(test)]
#[path = "volume_tests.rs"]
mod tests;
