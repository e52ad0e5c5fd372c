//! The runtimes that tests and benchmarks share, prepared by the product's own code.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;
use sandgate_engine::runtime::languages::{Edition, LANGUAGES_FOLDER, State, Tool, add, state};
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

/// Beside the chosen ones, to try how versions stand side by side.
const ANOTHER: &str = "node@20";

/// All other languages, one of them in two versions; gives their folder. There at once after the first time.
pub(crate) fn languages(ground: &Ground) -> Result<PathBuf> {
    let runtimes = ground.test_home().join("runtimes");
    let another = Edition::parse(ANOTHER)?;
    let all: Vec<Edition> = Tool::ALL.into_iter().map(Edition::from).chain([another]).collect();
    let missing = |edition: &Edition| !matches!(state(&runtimes, *edition), State::Ready(_));
    if all.iter().any(missing) && rustix::process::geteuid().is_root() {
        // Some come as packages of Debian, and a fresh machine may know none yet.
        let mut update = Command::new("apt-get");
        update.args(["-qq", "update"]);
        must(update)?;
    }
    for edition in all {
        let version = add(&runtimes, edition, &Lines)?;
        say(&format!("{} {version}", edition.tool.title()));
    }
    Ok(runtimes.join(LANGUAGES_FOLDER))
}
