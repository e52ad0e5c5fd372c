//! The machine and the versions that were measured: figures without them mean nothing.

use std::fs;
use std::process::Command;

use serde::Serialize;

use super::litellm;
use crate::ground::Ground;
use crate::run::output;

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
    litellm: &'static str,
}

pub(super) fn look(ground: &Ground) -> Measured {
    let in_tree = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&ground.root);
        output(command).unwrap_or_else(|_| "unknown".to_owned())
    };
    let first = |path: &str, start: &str| {
        let text = fs::read_to_string(path).unwrap_or_default();
        let value = text.lines().find_map(|line| line.strip_prefix(start)).unwrap_or("unknown");
        value.trim_matches([' ', '\t', ':', '"']).to_owned()
    };
    Measured {
        commit: in_tree("git", &["describe", "--always", "--dirty"]),
        rustc: in_tree("rustc", &["--version"]),
        kernel: first("/proc/sys/kernel/osrelease", ""),
        system: first("/etc/os-release", "PRETTY_NAME="),
        cpu: first("/proc/cpuinfo", "model name"),
        cpus: std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
        load_before: first("/proc/loadavg", "").split(' ').next().unwrap_or_default().to_owned(),
        litellm: litellm::PACKAGE,
    }
}

impl Measured {
    pub(super) fn as_text(&self) -> String {
        let Self { commit, rustc, kernel, system, cpu, cpus, load_before, litellm } = self;
        format!(
            "{cpus} × {cpu}, kernel {kernel}, {system}; load {load_before} before; {rustc}, {litellm}; \
             commit {commit}."
        )
    }
}
