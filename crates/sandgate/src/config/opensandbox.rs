//! The keys of the OpenSandbox door, checked.

use std::num::NonZero;
use std::time::Duration;

use sandgate_doors::opensandbox::OpenSandboxSettings;

use super::errors::Problem;
use super::file::OpenSandboxFile;
use super::key_path::KeyPath;

/// Its clients cannot ask for less.
const LEAST_TIMEOUT: u64 = 60;

pub(super) fn check(file: &OpenSandboxFile, max_memory: u64) -> Result<OpenSandboxSettings, Problem> {
    let path = KeyPath::of("opensandbox");
    if file.max_timeout_seconds < LEAST_TIMEOUT {
        return Err(Problem::at(path.key("max_timeout_seconds"), "must be at least 60"));
    }
    if file.max_cpu_millis == Some(0) {
        return Err(Problem::at(path.key("max_cpu_millis"), "must be at least 1"));
    }
    if let Some(place) = file.images.iter().position(|image| image.trim().is_empty()) {
        return Err(Problem::at(path.key("images").index(place), "this is no name of an image"));
    }
    Ok(OpenSandboxSettings {
        images: file.images.iter().cloned().collect(),
        max_timeout: Duration::from_secs(file.max_timeout_seconds),
        max_memory,
        max_cpu_millis: file.max_cpu_millis.unwrap_or_else(of_this_machine),
    })
}

fn of_this_machine() -> u32 {
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    u32::try_from(processors.saturating_mul(1000)).unwrap_or(u32::MAX)
}

#[cfg(test)]
#[path = "opensandbox_tests.rs"]
mod tests;
