//! The machine and the versions that were measured: figures without them mean nothing.

use super::machine::{first_line, in_tree, value_in};
use crate::ground::Ground;

/// `others`: what it was measured with or against.
pub(super) fn measured(ground: &Ground, others: &str) -> String {
    let loads = first_line("/proc/loadavg");
    format!(
        "{} × {}, kernel {}, {}; load {} before; {}, {others}; commit {}.",
        std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
        value_in("/proc/cpuinfo", "model name"),
        first_line("/proc/sys/kernel/osrelease"),
        value_in("/etc/os-release", "PRETTY_NAME="),
        loads.split(' ').next().unwrap_or_default(),
        in_tree(ground, "rustc", &["--version"]),
        in_tree(ground, "git", &["describe", "--always", "--dirty"]),
    )
}
