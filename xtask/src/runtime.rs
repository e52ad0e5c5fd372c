//! The runtimes that tests and benchmarks share, prepared by the product's own code.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;
use sandgate_engine::runtime::languages::{LANGUAGES_FOLDER, State, Tool, add, state};
use sandgate_engine::runtime::{Progress, PythonRuntime, prepare};

use crate::ground::Ground;
use crate::run::must;
use crate::say::say;

/// Says each stage on a line of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines;

impl Progress for Lines {
    fn stage(&self, text: &str) {
        say(text);
    }
    fn step(&self, _done: u64, _total: u64, _text: &str) {}
    fn finish(&self, text: &str) {
        say(text);
    }
}

/// There at once after the first time.
pub(crate) fn shared(ground: &Ground) -> Result<PythonRuntime> {
    Ok(prepare(&ground.test_home().join("runtimes"), &Lines)?)
}

/// All other languages; gives their folder. There at once after the first time.
pub(crate) fn languages(ground: &Ground) -> Result<PathBuf> {
    let runtimes = ground.test_home().join("runtimes");
    let missing = |tool: &Tool| !matches!(state(&runtimes, *tool), State::Ready(_));
    if Tool::ALL.iter().any(missing) && rustix::process::geteuid().is_root() {
        // Some come as packages of Debian, and a fresh machine may know none yet.
        let mut update = Command::new("apt-get");
        update.args(["-qq", "update"]);
        must(update)?;
    }
    for tool in Tool::ALL {
        let version = add(&runtimes, tool, &Lines)?;
        say(&format!("{} {version}", tool.title()));
    }
    Ok(runtimes.join(LANGUAGES_FOLDER))
}
