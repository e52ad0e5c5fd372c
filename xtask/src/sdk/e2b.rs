//! E2B's own SDKs: the newest releases, older ones that still speak the first version of the API, and who
//! builds on them. The same tests for all; what they say is the table of COMPATIBILITY.md.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};
use sandgate_engine::runtime::PythonRuntime;

use super::compatibility::{Compatibility, Report};
use super::{NODE_TESTS, packages};
use crate::ground::Ground;

/// Sets of packages, each pinned by a lock of its name in `tests/sdk/e2b_python`.
const PYTHON: [&str; 3] = ["current", "v1", "agents"];
/// Likewise folders in `tests/sdk/e2b_node`.
const NODE: [&str; 2] = ["current", "v1"];

/// Where the tests of one set of packages put what they found.
#[derive(Debug)]
pub(crate) struct Words {
    language: &'static str,
    report: PathBuf,
}

/// The commands that run the tests, one for each set, and what they will say.
pub(crate) fn suites(ground: &Ground, runtime: &PythonRuntime) -> Result<Vec<(Command, Words)>> {
    let folder = ground.target.join("sdk/e2b");
    fs::create_dir_all(folder.join("reports"))?;
    let mut suites = Vec::new();
    for set in PYTHON {
        suites.push(suite(ground, "Python", set, python(ground, runtime, &folder, set)?)?);
    }
    for set in NODE {
        suites.push(suite(ground, "JavaScript", set, node(ground, &folder, set)?)?);
    }
    Ok(suites)
}

fn suite(
    ground: &Ground,
    language: &'static str,
    set: &str,
    mut command: Command,
) -> Result<(Command, Words)> {
    let name = format!("{}-{set}.json", language.to_lowercase());
    let report = ground.target.join("sdk/e2b/reports").join(name);
    // What an earlier run said is not of this one.
    if report.exists() {
        fs::remove_file(&report)?;
    }
    command.env("SANDGATE_TARGET", &ground.target).env("SANDGATE_SDK_REPORT", &report);
    Ok((command, Words { language, report }))
}

fn python(ground: &Ground, runtime: &PythonRuntime, folder: &Path, set: &str) -> Result<Command> {
    let tests = ground.root.join("tests/sdk/e2b_python");
    let venv = folder.join(format!("python-{set}"));
    let mut command = packages::python(&venv, &tests.join(format!("{set}.lock")), runtime)?;
    command.args(["-m", "pytest"]).current_dir(tests).env("PYTHONDONTWRITEBYTECODE", "1");
    Ok(command)
}

/// The Python of the newest SDK, for those who measure with it.
pub(crate) fn current_python(ground: &Ground, runtime: &PythonRuntime) -> Result<Command> {
    let lock = ground.root.join("tests/sdk/e2b_python/current.lock");
    packages::python(&ground.target.join("sdk/e2b/python-current"), &lock, runtime)
}

fn node(ground: &Ground, folder: &Path, set: &str) -> Result<Command> {
    let tests = ground.root.join("tests/sdk/e2b_node");
    let mut command = packages::node(&folder.join(format!("node-{set}")), &tests.join(set), &tests)?;
    command.args(NODE_TESTS);
    Ok(command)
}

/// Puts what all suites said into COMPATIBILITY.md. A table that was not true any more is a failure, once:
/// somebody has to look at what changed.
pub(crate) fn compare(ground: &Ground, words: &[Words]) -> Result<()> {
    let mut compatibility = Compatibility::default();
    for words in words {
        compatibility.add(words.language, Report::read(&words.report)?);
    }
    let file = ground.root.join("COMPATIBILITY.md");
    let old = packages::read(&file)?;
    let new = compatibility.put_into(&old)?;
    if new == old {
        return Ok(());
    }
    fs::write(&file, new)?;
    bail!("COMPATIBILITY.md did not say what the tests say; it does now: look at it and keep it")
}
