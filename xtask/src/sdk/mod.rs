//! The unmodified SDKs of clients against the real program: their packages, kept below the target folder,
//! and the commands that run their tests in `tests/sdk`.

mod compatibility;
pub(crate) mod e2b;
pub(crate) mod opensandbox;
mod packages;

use std::process::Command;

use anyhow::Result;
use sandgate_engine::runtime::PythonRuntime;

use crate::ground::Ground;

const NODE_TESTS: [&str; 3] = ["--test", "--test-reporter=./reporter.mjs", "all.test.mjs"];

/// The tests of the Python clients, in a virtual environment of their own.
pub(crate) fn python(ground: &Ground, runtime: &PythonRuntime) -> Result<Command> {
    let mut command = openai_python(ground, runtime)?;
    let tests = ground.root.join("tests/sdk/python");
    command.args(["-m", "pytest"]).current_dir(tests);
    command.env("PYTHONDONTWRITEBYTECODE", "1").env("SANDGATE_TARGET", &ground.target);
    Ok(command)
}

/// The Python that has OpenAI's client.
fn openai_python(ground: &Ground, runtime: &PythonRuntime) -> Result<Command> {
    let lock = ground.root.join("tests/sdk/python/requirements.lock");
    packages::python(&ground.target.join("sdk/python"), &lock, runtime)
}

/// The tests of the console, in a Chromium that Playwright drives.
pub(crate) fn console(ground: &Ground, runtime: &PythonRuntime) -> Result<Command> {
    let tests = ground.root.join("tests/console");
    // What a page shows as code is run as it stands, by the clients it is for.
    let openai = openai_python(ground, runtime)?;
    let e2b = e2b::current_python(ground, runtime)?;
    let mut command =
        packages::python(&ground.target.join("sdk/console"), &tests.join("requirements.lock"), runtime)?;
    command.env("SANDGATE_OPENAI_PYTHON", openai.get_program()).env("SANDGATE_E2B_PYTHON", e2b.get_program());
    command.args(["-m", "pytest"]).current_dir(tests);
    command.env("PYTHONDONTWRITEBYTECODE", "1").env("SANDGATE_TARGET", &ground.target);
    Ok(command)
}

/// The tests of the Node clients.
pub(crate) fn node(ground: &Ground) -> Result<Command> {
    let tests = ground.root.join("tests/sdk/node");
    let mut command = packages::node(&ground.target.join("sdk/node"), &tests, &tests)?;
    command.args(NODE_TESTS).env("SANDGATE_TARGET", &ground.target);
    Ok(command)
}
