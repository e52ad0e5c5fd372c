//! How a sandbox comes to be: its control groups and namespaces.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};

use sandgate_core::{BackendError, Result, SandboxPath, SandboxSpec};
use sandgate_jail::cgroup::GroupLimits;
use tokio_util::sync::CancellationToken;

use super::EngineSandbox;
use super::variables::environment;
use crate::agent::{Account, AgentSlot, ProcessTable};
use crate::files::VolumeFiles;
use crate::shared::Shared;
use crate::volume::Volume;
use crate::way_out::WayOut;

/// Limits the kernel keeps, out of all limits.
fn group_limits(spec: &SandboxSpec) -> GroupLimits {
    GroupLimits {
        memory_bytes: spec.limits.memory_bytes,
        processes: spec.limits.processes,
        cpu_millis: spec.limits.cpu_millis,
    }
}

fn check_working_dir(spec: &SandboxSpec) -> Result<()> {
    match spec.working_dir.as_deref() {
        Some(dir) if !dir.starts_with('/') => {
            Err(BackendError::Invalid("a working folder must be a path from the root".to_owned()))
        }
        Some(dir) => SandboxPath::parse(dir).map(drop),
        None => Ok(()),
    }
}

/// Makes the control group, the namespaces, and the process that holds them.
fn start_init(shared: &Shared, volume: &Volume, spec: &SandboxSpec) -> Result<OwnedFd> {
    let engine = |error: &dyn std::fmt::Display| BackendError::Engine(error.to_string());
    let mut groups = Vec::new();
    if let Some(cgroups) = &shared.cgroups {
        let made = cgroups.make(volume.id.as_str(), group_limits(spec));
        let entrances = made.and_then(|()| cgroups.entrances(volume.id.as_str()));
        groups = entrances.map_err(|error| engine(&error))?;
    }
    let (tmp, ids) = (spec.limits.tmp_bytes, shared.volumes.ids().pair(volume.slot));
    shared.helper.make_sandbox(volume.id.as_str(), tmp, ids, &groups).map_err(|error| engine(&error))
}

impl EngineSandbox {
    /// Makes the namespaces and control groups over `volume`. Blocks for some 2 ms.
    pub(crate) fn make(
        shared: Arc<Shared>,
        volume: Volume,
        spec: SandboxSpec,
        revived: bool,
    ) -> Result<Self> {
        check_working_dir(&spec)?;
        let engine = |error: &dyn std::fmt::Display| BackendError::Engine(error.to_string());
        let ids = shared.volumes.ids();
        let owner = ids.host_user(volume.slot);
        let (bytes, entries) = (spec.limits.disk_bytes, spec.limits.disk_entries);
        let files =
            VolumeFiles::open(&volume.root(), owner, bytes, entries).map_err(|error| engine(&error))?;
        let init = start_init(&shared, &volume, &spec);
        if init.is_err()
            && let Some(cgroups) = &shared.cgroups
        {
            let _ = cgroups.remove(volume.id.as_str());
        }
        let init = init?;
        if revived {
            files.set_changed();
        }
        Ok(Self {
            env: environment(&shared, &spec),
            shared,
            volume,
            spec,
            files: Arc::new(files),
            init,
            contexts: Mutex::default(),
            made_contexts: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            paused: AtomicBool::new(false),
            held_still: AtomicBool::new(false),
            revived,
            seen: Mutex::default(),
            agent: AgentSlot::default(),
            processes: ProcessTable::default(),
            disk_is_watched: AtomicBool::new(false),
            account: Account::default(),
            stands_still: Mutex::default(),
            way_out: WayOut::default(),
            later_env: Mutex::default(),
            end: CancellationToken::new(),
        })
    }

    /// Lets a sandbox that waited in the pool be what was asked for.
    pub(crate) fn adopt(&mut self, spec: SandboxSpec) -> Result<()> {
        check_working_dir(&spec)?;
        if group_limits(&spec) != group_limits(&self.spec)
            && let Some(cgroups) = &self.shared.cgroups
        {
            cgroups
                .make(self.volume.id.as_str(), group_limits(&spec))
                .map_err(|error| BackendError::Engine(error.to_string()))?;
        }
        self.env = environment(&self.shared, &spec);
        self.spec = spec;
        Ok(())
    }
}
