//! The machine and the versions that were measured: figures without them mean nothing.

use serde::Serialize;

use super::machine::{first_line, in_tree, value_in};
use crate::ground::Ground;

#[derive(Debug, Serialize)]
pub(super) struct Measured {
    commit: String,
    rustc: String,
    kernel: String,
    system: String,
    cpu: String,
    cpus: usize,
    /// Processes that wanted to run, on average over the minute before.
    load_before: String,
    /// What it was measured with or against.
    others: String,
}

pub(super) fn look(ground: &Ground, others: &str) -> Measured {
    Measured {
        commit: in_tree(ground, "git", &["describe", "--always", "--dirty"]),
        rustc: in_tree(ground, "rustc", &["--version"]),
        kernel: first_line("/proc/sys/kernel/osrelease"),
        system: value_in("/etc/os-release", "PRETTY_NAME="),
        cpu: value_in("/proc/cpuinfo", "model name"),
        cpus: std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
        load_before: first_line("/proc/loadavg").split(' ').next().unwrap_or_default().to_owned(),
        others: others.to_owned(),
    }
}

impl Measured {
    pub(super) fn as_text(&self) -> String {
        let Self { commit, rustc, kernel, system, cpu, cpus, load_before, others } = self;
        format!(
            "{cpus} × {cpu}, kernel {kernel}, {system}; load {load_before} before; {rustc}, {others}; \
             commit {commit}."
        )
    }
}
