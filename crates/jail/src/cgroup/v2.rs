//! Version 2: one hierarchy. The sandbox's group carries the limits; each context is a leaf below it.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use super::files::{
    confirm, counter, entrance, make, mounted, number, place, processes, remove, subfolders, whole_pages,
    write, write_confirmed,
};
use super::{CgroupError, GroupEvents, GroupLimits, GroupUsage, Result, ground};

/// The engine's folder.
#[derive(Clone, Debug)]
pub struct V2 {
    base: PathBuf,
}

impl V2 {
    pub(super) fn open(name: &str) -> Result<Self> {
        let top = mounted(|kind, _| kind == "cgroup2").ok_or(CgroupError::NotMounted)?;
        let own = place("self", "").unwrap_or_default();
        // A path that leads out of what is mounted here belongs to another namespace's view.
        let own = if own.starts_with("..") { top.clone() } else { top.join(own) };
        Self::open_within(&top, &own, name)
    }

    /// As near to `own`, the group this process is in, as there is room.
    pub(super) fn open_within(top: &Path, own: &Path, name: &str) -> Result<Self> {
        Ok(Self { base: ground::settle(&ground::find(top, own)?, name)? })
    }

    /// What a run left in this folder.
    pub(super) fn left_in(base: PathBuf) -> Self {
        Self { base }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.base
    }

    pub(super) fn make(&self, sandbox: &str, limits: GroupLimits) -> Result<()> {
        let group = self.base.join(sandbox);
        make(&group)?;
        write_confirmed(&group.join("memory.max"), &whole_pages(limits.memory_bytes).to_string())?;
        let swap = group.join("memory.swap.max");
        if swap.exists() {
            write_confirmed(&swap, "0")?;
        }
        write_confirmed(&group.join("pids.max"), &limits.processes.to_string())?;
        let quota = 100 * u64::from(limits.cpu_millis);
        write_confirmed(&group.join("cpu.max"), &format!("{quota} 100000"))
    }

    pub(super) fn entrances(&self, sandbox: &str) -> Result<Vec<OwnedFd>> {
        // It hands no controllers down, so it may have a process of its own; and where PID 1 is becomes the root of the
        // sandbox's namespace, which must hold the contexts too, or code sees paths that lead out of it.
        Ok(vec![entrance(&self.base.join(sandbox), "cgroup.procs")?])
    }

    /// No entrance: here every way in takes its 10 ms, and when the server goes it, the process has that time
    /// to confine itself.
    pub(super) fn make_context(&self, sandbox: &str, context: &str) -> Result<Vec<OwnedFd>> {
        make(&self.base.join(sandbox).join(context))?;
        Ok(Vec::new())
    }

    pub(super) fn attach(&self, sandbox: &str, context: &str, pid: i32) -> Result<()> {
        write(&self.base.join(sandbox).join(context).join("cgroup.procs"), &pid.to_string())
    }

    pub(super) fn confirm(&self, sandbox: &str, context: &str, pid: i32) -> Result<()> {
        confirm(pid, &[("", self.base.join(sandbox).join(context))])
    }

    pub(super) fn freeze(&self, sandbox: &str, frozen: bool) -> Result<()> {
        write(&self.base.join(sandbox).join("cgroup.freeze"), if frozen { "1" } else { "0" })
    }

    pub(super) fn is_frozen(&self, sandbox: &str) -> Result<bool> {
        Ok(counter(&self.base.join(sandbox).join("cgroup.events"), "frozen")? == 1)
    }

    pub(super) fn kill_context(&self, sandbox: &str, context: &str) -> Result<()> {
        write(&self.base.join(sandbox).join(context).join("cgroup.kill"), "1")
    }

    pub(super) fn processes(&self, sandbox: &str, context: &str) -> Result<Vec<i32>> {
        processes(&self.base.join(sandbox).join(context))
    }

    pub(super) fn count(&self, sandbox: &str) -> Result<u64> {
        number(&self.base.join(sandbox).join("pids.current"))
    }

    pub(super) fn all_processes(&self, sandbox: &str) -> Result<Vec<i32>> {
        let mut all = Vec::new();
        for context in subfolders(&self.base.join(sandbox)) {
            all.extend(processes(&context)?);
        }
        Ok(all)
    }

    pub(super) fn events(&self, sandbox: &str) -> Result<GroupEvents> {
        let group = self.base.join(sandbox);
        Ok(GroupEvents {
            killed_for_memory: counter(&group.join("memory.events"), "oom_kill")?,
            refused_processes: counter(&group.join("pids.events"), "max")?,
        })
    }

    pub(super) fn usage(&self, sandbox: &str) -> Result<GroupUsage> {
        let group = self.base.join(sandbox);
        Ok(GroupUsage {
            memory_bytes: number(&group.join("memory.current"))?,
            // Absent before Linux 5.19.
            memory_peak_bytes: number(&group.join("memory.peak")).unwrap_or(0),
            cpu_micros: counter(&group.join("cpu.stat"), "usage_usec")?,
            processes: self.count(sandbox)?,
        })
    }

    pub(super) fn remove(&self, sandbox: &str) -> Result<()> {
        let group = self.base.join(sandbox);
        subfolders(&group).iter().try_for_each(|context| remove(context))?;
        remove(&group)
    }

    pub(super) fn remove_all(&self) -> Result<()> {
        for sandbox in subfolders(&self.base) {
            write(&sandbox.join("cgroup.kill"), "1")?;
            subfolders(&sandbox).iter().try_for_each(|context| remove(context))?;
            remove(&sandbox)?;
        }
        remove(&self.base)
    }
}

#[cfg(test)]
#[path = "v2_tests.rs"]
mod tests;
