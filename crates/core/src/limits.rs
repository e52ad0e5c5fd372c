//! What one sandbox may use. Every bound has an owner that enforces it and a sentence for when it is hit.

use std::time::Duration;

use serde::{Deserialize, Serialize};

const MIB: u64 = 1 << 20;

/// A size as a person writes it: `512 MiB`, `1.5 GiB`, `700 bytes`.
#[must_use]
pub fn human_bytes(bytes: u64) -> String {
    let units = [("GiB", 1024 * MIB), ("MiB", MIB), ("KiB", 1024)];
    match units.into_iter().find(|(_, size)| bytes >= *size) {
        None => format!("{bytes} bytes"),
        Some((unit, size)) if bytes.is_multiple_of(size) => format!("{} {unit}", bytes / size),
        Some((unit, size)) => {
            // One digit behind the point is enough for a sentence.
            let tenths = bytes.saturating_mul(10) / size;
            format!("{}.{} {unit}", tenths / 10, tenths % 10)
        }
    }
}

/// Bounds of one sandbox; wall time, output and code size are per execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Memory of all processes together, page cache and `/tmp` included. Cgroup.
    pub memory_bytes: u64,
    /// Processes and threads together. Cgroup.
    pub processes: u32,
    /// Thousandths of one processor. Cgroup.
    pub cpu_millis: u32,
    /// Wall time of one execution. The engine interrupts, then kills.
    #[serde(with = "seconds")]
    pub wall: Duration,
    /// Bytes of output kept of one execution; what comes after is counted and dropped.
    pub output_bytes: u64,
    /// Open files per process. Resource limit.
    pub open_files: u64,
    /// Bytes on disk, `/mnt/data` and `/home/user` together; also the size of one file. The engine watches.
    pub disk_bytes: u64,
    /// Files and folders on disk. The engine watches.
    pub disk_entries: u64,
    /// Size of the private `/tmp`, which counts as memory.
    pub tmp_bytes: u64,
    /// Bytes of code in one execution.
    pub code_bytes: u64,
    /// Named contexts in one sandbox.
    pub contexts: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 1024 * MIB,
            processes: 128,
            cpu_millis: 1000,
            wall: Duration::from_secs(60),
            output_bytes: 10 * MIB,
            open_files: 1024,
            disk_bytes: 1024 * MIB,
            disk_entries: 100_000,
            tmp_bytes: 256 * MIB,
            code_bytes: 4 * MIB,
            contexts: 32,
        }
    }
}

mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(value.as_secs_f64())
    }
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        let seconds = f64::deserialize(from)?;
        Duration::try_from_secs_f64(seconds).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;
