//! Version 1: one hierarchy per controller. The sandbox has a group in each; contexts have one below it in
//! the pids hierarchy only, which is enough to find and end what a context started.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use super::files::{
    confirm, counter, cpu_micros_of, entrance, failed, make, mounted, number, place, processes, remove,
    subfolders, whole_pages, write, write_confirmed,
};
use super::{CgroupError, GroupEvents, GroupLimits, GroupUsage, Result, signal_one};

/// The engine's folder in each hierarchy.
#[derive(Clone, Debug)]
pub struct V1 {
    memory: PathBuf,
    pids: PathBuf,
    cpu: PathBuf,
    freezer: PathBuf,
}

const NETWORK_BUFFERS: u64 = 32 << 20;
const CPU_PERIOD_MICROS: u64 = 100_000;
/// Takes one thread, which is all that those who enter have. A thread that moves itself through this file is the
/// one case in which Linux need not halt all forks of the host; for that, every other way waits until each
/// processor was seen idle or switching, which is some 10 ms.
const ENTRANCE: &str = "tasks";

impl V1 {
    pub(super) fn open(name: &str) -> Result<Self> {
        let base = |controller: &str| -> Result<PathBuf> {
            let mount =
                mounted(|kind, options| kind == "cgroup" && options.split(',').any(|one| one == controller));
            let mount = mount.ok_or(CgroupError::NotMounted)?;
            let own = place("self", controller).unwrap_or_default();
            let below = mount.join(own);
            // In a container the mount may already show our own place as its root.
            let below = if below.is_dir() { below } else { mount };
            let folder = below.join(name);
            make(&folder)?;
            Ok(folder)
        };
        Ok(Self {
            memory: base("memory")?,
            pids: base("pids")?,
            cpu: base("cpu")?,
            freezer: base("freezer")?,
        })
    }

    fn all(&self) -> [&Path; 4] {
        [&self.memory, &self.pids, &self.cpu, &self.freezer]
    }

    pub(super) fn make(&self, sandbox: &str, limits: GroupLimits) -> Result<()> {
        for base in self.all() {
            make(&base.join(sandbox))?;
        }
        let memory = self.memory.join(sandbox);
        let bytes = whole_pages(limits.memory_bytes).to_string();
        // Present only where swap is accounted; without it swap would be a way around the limit.
        let with_swap = memory.join("memory.memsw.limit_in_bytes");
        // Memory with swap is never less than memory: where there is to be more, it is raised first.
        if with_swap.exists() && number(&with_swap)? < whole_pages(limits.memory_bytes) {
            write_confirmed(&with_swap, &bytes)?;
        }
        write_confirmed(&memory.join("memory.limit_in_bytes"), &bytes)?;
        if with_swap.exists() {
            write_confirmed(&with_swap, &bytes)?;
        }
        // Version 1 counts network buffers apart; uncounted, they would come out of what the whole host has.
        let buffers = memory.join("memory.kmem.tcp.limit_in_bytes");
        if buffers.exists() {
            write_confirmed(&buffers, &NETWORK_BUFFERS.min(whole_pages(limits.memory_bytes)).to_string())?;
        }
        write_confirmed(&self.pids.join(sandbox).join("pids.max"), &limits.processes.to_string())?;
        let quota = CPU_PERIOD_MICROS * u64::from(limits.cpu_millis) / 1000;
        write_confirmed(&self.cpu.join(sandbox).join("cpu.cfs_quota_us"), &quota.to_string())
    }

    pub(super) fn entrances(&self, sandbox: &str) -> Result<Vec<OwnedFd>> {
        self.all().iter().map(|base| entrance(&base.join(sandbox), ENTRANCE)).collect()
    }

    pub(super) fn make_context(&self, sandbox: &str, context: &str) -> Result<Vec<OwnedFd>> {
        make(&self.pids.join(sandbox).join(context))?;
        self.groups_of(sandbox, context).iter().map(|(_, group)| entrance(group, ENTRANCE)).collect()
    }

    pub(super) fn confirm(&self, sandbox: &str, context: &str, pid: i32) -> Result<()> {
        confirm(pid, &self.groups_of(sandbox, context))
    }

    /// Where a process of the context belongs, by controller. The freezer last: in a paused sandbox, whoever
    /// enters it stops there.
    fn groups_of(&self, sandbox: &str, context: &str) -> [(&'static str, PathBuf); 4] {
        [
            ("pids", self.pids.join(sandbox).join(context)),
            ("memory", self.memory.join(sandbox)),
            ("cpu", self.cpu.join(sandbox)),
            ("freezer", self.freezer.join(sandbox)),
        ]
    }

    pub(super) fn freeze(&self, sandbox: &str, frozen: bool) -> Result<()> {
        write(&self.freezer.join(sandbox).join("freezer.state"), if frozen { "FROZEN" } else { "THAWED" })
    }

    pub(super) fn is_frozen(&self, sandbox: &str) -> Result<bool> {
        let state = self.freezer.join(sandbox).join("freezer.state");
        let text = fs::read_to_string(&state).map_err(|error| failed(&state, &error))?;
        Ok(text.trim() == "FROZEN")
    }

    pub(super) fn kill_context(&self, sandbox: &str, context: &str) -> Result<()> {
        // What is frozen cannot die.
        self.freeze(sandbox, false)?;
        let leaf = self.pids.join(sandbox).join(context);
        // Nothing new can be forked while we kill, so that a fork bomb cannot outrun us.
        write(&leaf.join("pids.max"), "0")?;
        for _ in 0..1000 {
            let alive = processes(&leaf)?;
            if alive.is_empty() {
                break;
            }
            for pid in alive {
                signal_one(pid, libc::SIGKILL, |pid| processes(&leaf).is_ok_and(|now| now.contains(&pid)));
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        write(&leaf.join("pids.max"), "max")
    }

    pub(super) fn processes(&self, sandbox: &str, context: &str) -> Result<Vec<i32>> {
        processes(&self.pids.join(sandbox).join(context))
    }

    pub(super) fn count(&self, sandbox: &str) -> Result<u64> {
        number(&self.pids.join(sandbox).join("pids.current"))
    }

    pub(super) fn all_processes(&self, sandbox: &str) -> Result<Vec<i32>> {
        let mut all = Vec::new();
        for context in subfolders(&self.pids.join(sandbox)) {
            all.extend(processes(&context)?);
        }
        Ok(all)
    }

    pub(super) fn events(&self, sandbox: &str) -> Result<GroupEvents> {
        Ok(GroupEvents {
            killed_for_memory: counter(&self.memory.join(sandbox).join("memory.oom_control"), "oom_kill")?,
            refused_processes: self.refused(sandbox)?,
        })
    }

    /// Version 1 counts a refusal in the group that wanted to fork, not in the one whose limit it was.
    fn refused(&self, sandbox: &str) -> Result<u64> {
        let group = self.pids.join(sandbox);
        let mut refused = 0;
        for counted in subfolders(&group).into_iter().chain([group]) {
            refused += counter(&counted.join("pids.events"), "max")?;
        }
        Ok(refused)
    }

    pub(super) fn usage(&self, sandbox: &str) -> Result<GroupUsage> {
        let memory = self.memory.join(sandbox);
        // There only where the host mounts cpu and cpuacct together, as most do; elsewhere what lives is added up.
        let counted = number(&self.cpu.join(sandbox).join("cpuacct.usage")).map(|nanos| nanos / 1000);
        let cpu_micros = match counted {
            Ok(micros) => micros,
            Err(_) => self.all_processes(sandbox)?.into_iter().map(cpu_micros_of).sum(),
        };
        Ok(GroupUsage {
            memory_bytes: number(&memory.join("memory.usage_in_bytes"))?,
            memory_peak_bytes: number(&memory.join("memory.max_usage_in_bytes"))?,
            cpu_micros,
            processes: self.count(sandbox)?,
        })
    }

    pub(super) fn remove(&self, sandbox: &str) -> Result<()> {
        for context in subfolders(&self.pids.join(sandbox)) {
            remove(&context)?;
        }
        self.all().iter().try_for_each(|base| remove(&base.join(sandbox)))
    }

    pub(super) fn remove_all(&self) -> Result<()> {
        for sandbox in subfolders(&self.pids) {
            let Some(name) = sandbox.file_name().and_then(|name| name.to_str()) else { continue };
            for context in subfolders(&sandbox) {
                if let Some(context) = context.file_name().and_then(|name| name.to_str()) {
                    self.kill_context(name, context)?;
                }
            }
        }
        for base in self.all() {
            for sandbox in subfolders(base) {
                subfolders(&sandbox).iter().try_for_each(|context| remove(context))?;
                remove(&sandbox)?;
            }
            remove(base)?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "v1_tests.rs"]
mod tests;
