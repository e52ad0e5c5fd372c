//! What was measured on: figures without it mean nothing.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Result;
use serde::Serialize;

use super::memory;
use super::venv::PeerVenv;
use crate::ground::Ground;
use crate::run::output;
use crate::say::say;

/// How much of the processors others may use before figures are not worth keeping.
const BUSY: f64 = 0.05;
const VERSIONS: &str = "
import importlib.metadata, json, platform
names = ['numpy', 'pandas', 'matplotlib', 'ipython', 'ipykernel', 'jupyter_client']
print(json.dumps({'python': platform.python_version(), **{name: importlib.metadata.version(name) for name in names}}))
";

#[derive(Debug, Serialize)]
pub(super) struct Machine {
    /// Seconds since 1970.
    taken_at: u64,
    commit: String,
    rustc: String,
    kernel: String,
    system: String,
    cpu: String,
    cpus: usize,
    memory_mib: f64,
    /// The part of the processors that others used just before.
    busy_before: f64,
    versions: BTreeMap<String, String>,
}

pub(super) fn look(ground: &Ground, peers: &PeerVenv) -> Result<Machine> {
    let in_tree = |program: &str, arguments: &[&str]| in_tree(ground, program, arguments);
    let mut versions = peers.python();
    versions.args(["-c", VERSIONS]);
    let mut versions: BTreeMap<String, String> = serde_json::from_str(&output(versions)?)?;
    versions.insert("bubblewrap".to_owned(), in_tree("bwrap", &["--version"]).replace("bubblewrap ", ""));
    Ok(Machine {
        taken_at: SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs(),
        commit: in_tree("git", &["describe", "--always", "--dirty"]),
        rustc: in_tree("rustc", &["--version"]),
        kernel: first_line("/proc/sys/kernel/osrelease"),
        system: value_in("/etc/os-release", "PRETTY_NAME="),
        cpu: value_in("/proc/cpuinfo", "model name"),
        cpus: std::thread::available_parallelism()?.get(),
        memory_mib: memory::total_mib()?,
        busy_before: busy(),
        versions,
    })
}

/// What a program says of itself or of the tree.
pub(super) fn in_tree(ground: &Ground, program: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&ground.root);
    output(command).unwrap_or_else(|_| "unknown".to_owned())
}

impl Machine {
    pub(super) fn warn_if_busy(&self) {
        if self.busy_before > BUSY {
            let percent = self.busy_before * 100.0;
            say(&format!(
                "the machine is busy ({percent:.0} % of its processors): the engine will look worse than it is"
            ));
        }
    }

    pub(super) fn as_text(&self) -> String {
        let versions: Vec<String> =
            self.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
        format!(
            "{} × {}, {:.0} GiB, kernel {}, {}; {:.0} % busy before\n{}; commit {}",
            self.cpus,
            self.cpu,
            self.memory_mib / 1024.0,
            self.kernel,
            self.system,
            self.busy_before * 100.0,
            versions.join(", "),
            self.commit,
        )
    }
}

/// Over two seconds.
fn busy() -> f64 {
    // user, nice, system, idle, iowait, …
    let times = || -> Vec<f64> {
        first_line("/proc/stat").split_whitespace().skip(1).filter_map(|ticks| ticks.parse().ok()).collect()
    };
    let before = times();
    std::thread::sleep(Duration::from_secs(2));
    let passed: Vec<f64> = times().iter().zip(before).map(|(now, before)| now - before).collect();
    let idle: f64 = passed.iter().skip(3).take(2).sum();
    let all: f64 = passed.iter().sum();
    if all > 0.0 { 1.0 - idle / all } else { 0.0 }
}

pub(super) fn first_line(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default().lines().next().unwrap_or("unknown").to_owned()
}

pub(super) fn value_in(path: &str, start: &str) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    let value = text.lines().find_map(|line| line.strip_prefix(start)).unwrap_or("unknown");
    value.trim_matches([' ', '\t', ':', '"']).to_owned()
}
