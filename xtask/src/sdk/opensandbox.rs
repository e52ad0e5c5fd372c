//! OpenSandbox's own SDKs, and LiteLLM's client of it, against the real program.

use std::process::Command;

use anyhow::Result;
use sandgate_engine::runtime::PythonRuntime;

use super::{NODE_TESTS, packages};
use crate::ground::Ground;

/// Sets of packages, each pinned by a lock of its name in `tests/sdk/opensandbox_python`.
const PYTHON: [&str; 2] = ["current", "litellm"];

/// The commands that run the tests, one for each set.
pub(crate) fn suites(ground: &Ground, runtime: &PythonRuntime) -> Result<Vec<Command>> {
    let folder = ground.target.join("sdk/opensandbox");
    let mut suites = Vec::new();
    for set in PYTHON {
        let tests = ground.root.join("tests/sdk/opensandbox_python");
        let venv = folder.join(format!("python-{set}"));
        let mut command = packages::python(&venv, &tests.join(format!("{set}.lock")), runtime)?;
        command.args(["-m", "pytest"]).current_dir(tests).env("PYTHONDONTWRITEBYTECODE", "1");
        suites.push(command);
    }
    let tests = ground.root.join("tests/sdk/opensandbox_node");
    let mut command = packages::node(&folder.join("node"), &tests, &tests)?;
    command.args(NODE_TESTS);
    suites.push(command);
    for command in &mut suites {
        // The stage before has added all runtimes: a language that is missing is a failure.
        command.env("SANDGATE_TARGET", &ground.target).env("SANDGATE_TEST_EVERY_LANGUAGE", "1");
    }
    Ok(suites)
}
