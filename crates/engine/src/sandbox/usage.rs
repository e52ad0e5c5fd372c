//! What a sandbox uses: of the disk, looked at from outside, and of what its control groups count.

use std::os::fd::AsFd;
use std::sync::Arc;

use sandgate_core::{BackendError, Result, Usage};

use super::EngineSandbox;
use crate::files::walk::{DiskUsage, Snapshot, held_open, snapshot};
use crate::shared::blocking;

/// So many files on disk are walked without leaving the thread.
const FEW_FILES: u64 = 200;

impl EngineSandbox {
    pub(super) async fn disk(&self) -> Result<Snapshot> {
        let (files, entries) = (Arc::clone(&self.files), self.spec.limits.disk_entries);
        // A few files are looked at sooner than another thread would have woken up.
        if self.seen().files.usage.entries < FEW_FILES {
            let now = snapshot(files.root().as_fd(), FEW_FILES);
            if now.usage.entries < FEW_FILES {
                return Ok(now);
            }
        }
        blocking(move || snapshot(files.root().as_fd(), entries)).await
    }

    /// What is on disk, with files that were removed but are still held open.
    pub(super) async fn disk_with_removed(&self) -> Result<DiskUsage> {
        let mut usage = self.disk().await?.usage;
        let (files, shared, id) = (Arc::clone(&self.files), Arc::clone(&self.shared), self.volume.id.clone());
        usage.bytes += blocking(move || {
            let processes = shared.cgroups.as_ref().and_then(|groups| groups.all_processes(id.as_str()).ok());
            held_open(files.root(), &processes.unwrap_or_default())
        })
        .await?;
        Ok(usage)
    }

    pub(super) fn over_limit(&self, usage: DiskUsage) -> bool {
        usage.bytes > self.spec.limits.disk_bytes || usage.entries > self.spec.limits.disk_entries
    }

    pub(super) async fn used(&self) -> Result<Usage> {
        let disk = self.disk().await?.usage;
        let mut usage = Usage { disk_bytes: disk.bytes, ..Usage::default() };
        if let Some(cgroups) = &self.shared.cgroups {
            let group = cgroups
                .usage(self.volume.id.as_str())
                .map_err(|error| BackendError::Engine(error.to_string()))?;
            usage.memory_bytes = group.memory_bytes;
            usage.memory_peak_bytes = group.memory_peak_bytes;
            usage.cpu_micros = group.cpu_micros;
            usage.processes = group.processes;
        }
        Ok(usage)
    }
}
