//! One run of the engine: its folder, its lock, and the clearing away of runs that died.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use sandgate_core::random_hex;
use sandgate_jail::cgroup::Cgroups;

use crate::StartError;
use crate::files::remove::remove_all;

/// The file of a run's folder that names its control groups.
const GROUPS: &str = "groups";

/// Held as long as the engine runs; the lock goes with the process, however it ends.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) folder: PathBuf,
    /// Names this run's control groups, so that the next run can find what it left.
    pub(crate) name: String,
    _lock: File,
}

impl Instance {
    pub(crate) fn begin(home: &Path) -> Result<Self, StartError> {
        let all = home.join("instances");
        fs::create_dir_all(&all).map_err(StartError::file("make", &all))?;
        // One at a time: a folder that is made but not locked yet must not look dead to another start.
        let starting = lock_file(&all.join(".starting"))?;
        flock(&starting, FlockOperation::LockExclusive).map_err(|error| StartError::File {
            action: "lock",
            path: all.clone(),
            source: error.into(),
        })?;
        clear_dead(&all);
        let name = format!("sandgate-{}", random_hex(6));
        let folder = all.join(&name);
        fs::create_dir(&folder).map_err(StartError::file("make", &folder))?;
        let lock = lock_file(&folder.join("lock"))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|error| StartError::File {
            action: "lock",
            path: folder.clone(),
            source: error.into(),
        })?;
        Ok(Self { folder, name, _lock: lock })
    }

    /// For the next run: where the control groups of this one are.
    pub(crate) fn note_groups(&self, groups: &Cgroups) -> Result<(), StartError> {
        let Some(folder) = groups.folder() else { return Ok(()) };
        let note = self.folder.join(GROUPS);
        fs::write(&note, folder.as_os_str().as_bytes()).map_err(StartError::file("write", &note))
    }

    /// Leaves nothing behind. Everything that ran must have ended.
    pub(crate) fn end(&self) {
        if let Err(error) = remove_all(&self.folder) {
            tracing::warn!(folder = %self.folder.display(), %error, "the folder of this run could not be removed");
        }
    }
}

/// Only one server at a time may use the containers of a home.
pub fn lock_containers(home: &Path) -> Result<File, StartError> {
    let file = lock_file(&home.join("server.lock"))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(_) => Err(StartError::HomeInUse(home.to_owned())),
    }
}

fn lock_file(path: &Path) -> Result<File, StartError> {
    File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(StartError::file("open", path))
}

/// A run whose lock is free has died: its processes went with it, its control groups and folder go now.
fn clear_dead(all: &Path) {
    for entry in fs::read_dir(all).into_iter().flatten().flatten() {
        let folder = entry.path();
        if !folder.is_dir() {
            continue;
        }
        let Ok(lock) = lock_file(&folder.join("lock")) else { continue };
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            continue;
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(groups) = groups_of(&folder, &name)
            && let Err(error) = groups.remove_all()
        {
            tracing::warn!(run = name, %error, "control groups of an earlier run could not be removed");
            continue;
        }
        if let Err(error) = remove_all(&folder) {
            tracing::warn!(run = name, %error, "the folder of an earlier run could not be removed");
        }
    }
}

/// The control groups that the run of this name had.
fn groups_of(folder: &Path, name: &str) -> Option<Cgroups> {
    let Ok(noted) = fs::read(folder.join(GROUPS)) else { return Cgroups::open(name).ok() };
    let groups = PathBuf::from(OsString::from_vec(noted));
    (groups.file_name() == Some(OsStr::new(name)) && groups.is_dir()).then(|| Cgroups::left_in(groups))
}
