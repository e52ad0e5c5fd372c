//! Limits that the kernel keeps for a whole sandbox: memory, processes, processor time; freezing and
//! killing everything at once. Version 2 where it has the controllers, version 1 where that is what the
//! host has.

mod files;
mod ground;
mod v1;
mod v2;

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use crate::sys;

pub use v1::V1;
pub use v2::V2;

#[derive(Debug, thiserror::Error)]
pub enum CgroupError {
    #[error("no cgroup hierarchy with memory, pids and cpu controllers is mounted here")]
    NotMounted,
    #[error("cgroup {path}: {reason}")]
    File { path: PathBuf, reason: String },
    #[error("cgroup {path} holds {found} where {wanted} was written")]
    NotConfirmed { path: PathBuf, wanted: String, found: String },
    #[error("process {pid} is not in cgroup {path} although it was put there")]
    NotAttached { pid: i32, path: PathBuf },
}

pub type Result<T> = std::result::Result<T, CgroupError>;

/// What the kernel holds a sandbox to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupLimits {
    pub memory_bytes: u64,
    pub processes: u32,
    pub cpu_millis: u32,
}

/// Counters that tell which limit was hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupEvents {
    pub killed_for_memory: u64,
    pub refused_processes: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupUsage {
    pub memory_bytes: u64,
    pub memory_peak_bytes: u64,
    pub cpu_micros: u64,
    pub processes: u64,
}

/// All groups of one engine, below a folder with its name.
#[derive(Clone, Debug)]
pub enum Cgroups {
    V1(V1),
    V2(V2),
}

/// Calls a method on whichever version there is.
macro_rules! on {
    ($self:ident, $version:ident => $call:expr) => {
        match $self {
            Cgroups::V1($version) => $call,
            Cgroups::V2($version) => $call,
        }
    };
}

impl Cgroups {
    /// Finds what the host has and makes the engine's folder, by really making it.
    pub fn open(name: &str) -> Result<Self> {
        let version_2 = V2::open(name);
        match version_2 {
            Ok(groups) => Ok(Self::V2(groups)),
            Err(CgroupError::NotMounted) => V1::open(name).map(Self::V1),
            // Version 2 has the controllers, but we may not use them: the v1 answer would only confuse.
            Err(error) => Err(error),
        }
    }

    /// Groups that an earlier run left, where it noted [`Self::folder`]: the next one may be started from
    /// another place in the hierarchy.
    #[must_use]
    pub fn left_in(folder: PathBuf) -> Self {
        Self::V2(V2::left_in(folder))
    }

    /// The one folder of version 2.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::V1(_) => None,
            Self::V2(groups) => Some(groups.folder()),
        }
    }

    #[must_use]
    pub fn version(&self) -> u32 {
        match self {
            Self::V1(_) => 1,
            Self::V2(_) => 2,
        }
    }

    /// Makes the group of a sandbox with its limits, each read back.
    pub fn make(&self, sandbox: &str, limits: GroupLimits) -> Result<()> {
        on!(self, groups => groups.make(sandbox, limits))
    }

    /// The files through which the sandbox's PID 1 puts itself under the limits.
    pub fn entrances(&self, sandbox: &str) -> Result<Vec<OwnedFd>> {
        on!(self, groups => groups.entrances(sandbox))
    }

    /// Makes a place for one context of the sandbox. Gives the files through which its process puts itself
    /// there; none where [`Self::attach`] does it.
    pub fn make_context(&self, sandbox: &str, context: &str) -> Result<Vec<OwnedFd>> {
        on!(self, groups => groups.make_context(sandbox, context))
    }

    /// Puts a process there that cannot do so itself.
    pub fn attach(&self, sandbox: &str, context: &str, pid: i32) -> Result<()> {
        match self {
            Self::V1(_) => Ok(()),
            Self::V2(groups) => groups.attach(sandbox, context, pid),
        }
    }

    /// Sees the process there, by whichever way it came.
    pub fn confirm(&self, sandbox: &str, context: &str, pid: i32) -> Result<()> {
        on!(self, groups => groups.confirm(sandbox, context, pid))
    }

    pub fn freeze(&self, sandbox: &str, frozen: bool) -> Result<()> {
        on!(self, groups => groups.freeze(sandbox, frozen))
    }

    /// Whether every process of a sandbox that was to freeze stands still by now.
    pub fn is_frozen(&self, sandbox: &str) -> Result<bool> {
        on!(self, groups => groups.is_frozen(sandbox))
    }

    /// Ends every process of the context, whatever it forks meanwhile.
    pub fn kill_context(&self, sandbox: &str, context: &str) -> Result<()> {
        on!(self, groups => groups.kill_context(sandbox, context))
    }

    /// Signals those processes of the context that are in the process group of `leader`, one by one: what
    /// [`sys::signal_group`] does at once where Linux has it.
    pub fn signal_group(&self, sandbox: &str, context: &str, leader: i32, signal: i32) -> Result<()> {
        let is_member = |pid: i32| sys::process_group(pid) == Some(leader);
        for pid in self.processes(sandbox, context)?.into_iter().filter(|pid| is_member(*pid)) {
            let is_there = |pid: i32| {
                self.processes(sandbox, context).is_ok_and(|now| now.contains(&pid)) && is_member(pid)
            };
            signal_one(pid, signal, is_there);
        }
        Ok(())
    }

    /// Processes of the context, as this process numbers them.
    pub fn processes(&self, sandbox: &str, context: &str) -> Result<Vec<i32>> {
        on!(self, groups => groups.processes(sandbox, context))
    }

    /// How many processes and threads the sandbox has, PID 1 included.
    pub fn count(&self, sandbox: &str) -> Result<u64> {
        on!(self, groups => groups.count(sandbox))
    }

    /// Processes of all contexts.
    pub fn all_processes(&self, sandbox: &str) -> Result<Vec<i32>> {
        on!(self, groups => groups.all_processes(sandbox))
    }

    pub fn events(&self, sandbox: &str) -> Result<GroupEvents> {
        on!(self, groups => groups.events(sandbox))
    }

    pub fn usage(&self, sandbox: &str) -> Result<GroupUsage> {
        on!(self, groups => groups.usage(sandbox))
    }

    /// Removes the sandbox's group, which must be empty of live processes.
    pub fn remove(&self, sandbox: &str) -> Result<()> {
        on!(self, groups => groups.remove(sandbox))
    }

    /// Removes the engine's folder and everything left in it, ending what still runs there.
    pub fn remove_all(&self) -> Result<()> {
        on!(self, groups => groups.remove_all())
    }
}

/// Signals `pid` if `still_there` says, after a handle on it was taken, that it is the process we mean.
fn signal_one(pid: i32, signal: i32, still_there: impl Fn(i32) -> bool) {
    use std::os::fd::AsFd;
    if let Ok(handle) = sys::pidfd_open(pid)
        && still_there(pid)
    {
        // It may have ended by itself: nothing to do then.
        let _ = sys::send_signal(handle.as_fd(), signal);
    }
}

#[cfg(test)]
#[path = "mod_tests.rs"]
mod tests;
