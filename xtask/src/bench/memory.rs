//! Memory that a sandbox has for itself alone.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use sandgate_core::{Backend, SandboxId};

use super::cells;
use super::engines::BenchEngine;
use super::samples::Samples;
use crate::say::say;

const SANDBOXES: usize = 20;

/// Sandboxes after the same first cell as the peers', idle for a second.
pub(super) async fn measure(bench: &BenchEngine, samples: &mut Samples) -> Result<()> {
    say("memory of idle sandboxes");
    let engine = bench.engine.as_ref();
    bench.settled().await;
    let mut sandboxes = Vec::new();
    for _ in 0..SANDBOXES {
        sandboxes.push(cells::create(engine).await?.sandbox);
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let processes = Processes::now()?;
    for sandbox in &sandboxes {
        samples.add("sandbox_private_mib", mib(processes.private_bytes(sandbox.id())?));
    }
    for sandbox in sandboxes {
        engine.delete(sandbox.id()).await?;
    }
    Ok(())
}

/// The machine's processes by the PID namespace they are in, which is how sandboxes are told apart.
#[derive(Debug)]
struct Processes(HashMap<PathBuf, Vec<PathBuf>>);

impl Processes {
    fn now() -> Result<Self> {
        let mut by_namespace: HashMap<PathBuf, Vec<PathBuf>> = HashMap::new();
        for entry in fs::read_dir("/proc")?.flatten() {
            // What is no process, or ended meanwhile, has no such link.
            if let Ok(namespace) = fs::read_link(entry.path().join("ns/pid")) {
                by_namespace.entry(namespace).or_default().push(entry.path());
            }
        }
        Ok(Self(by_namespace))
    }

    /// Of every process in the sandbox, its PID 1 included.
    fn private_bytes(&self, id: &SandboxId) -> Result<u64> {
        // A control group carries the sandbox's name; its kernels are in it.
        let is_in_group = |process: &PathBuf| {
            fs::read_to_string(process.join("cgroup")).is_ok_and(|text| text.contains(id.as_str()))
        };
        let inside = self.0.values().find(|processes| processes.iter().any(is_in_group));
        let inside = inside.with_context(|| format!("no process of sandbox {id} was found"))?;
        ensure!(
            inside.len() == 2,
            "sandbox {id} should be a PID 1 and a kernel, but has {} processes",
            inside.len()
        );
        inside.iter().map(|process| private_bytes(process)).sum()
    }
}

fn private_bytes(process: &Path) -> Result<u64> {
    let rollup = fs::read_to_string(process.join("smaps_rollup"))?;
    let rows = rollup.lines().filter(|line| line.starts_with("Private_"));
    Ok(rows.map(kibibytes).sum::<u64>() * 1024)
}

/// Memory of the machine that is free or could be.
pub(super) fn available_bytes() -> Result<u64> {
    machine_bytes("MemAvailable:")
}

pub(super) fn total_mib() -> Result<f64> {
    machine_bytes("MemTotal:").map(mib)
}

fn machine_bytes(name: &str) -> Result<u64> {
    let text = fs::read_to_string("/proc/meminfo")?;
    let row = text.lines().find(|line| line.starts_with(name));
    Ok(row.map_or(0, kibibytes) * 1024)
}

/// `Private_Dirty:  1234 kB`
fn kibibytes(row: &str) -> u64 {
    row.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}

pub(super) fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
