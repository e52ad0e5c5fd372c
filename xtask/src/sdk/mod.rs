//! The unmodified SDKs of clients against the real program: their packages, kept below the target folder,
//! and the commands that run their tests in `tests/sdk`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use sandgate_engine::runtime::PythonRuntime;

use crate::ground::Ground;
use crate::run::must;
use crate::say::say;

/// Written last, with all that a folder was made of.
const MARK: &str = "made-of";

/// The tests of the Python clients, in a virtual environment of their own.
pub(crate) fn python(ground: &Ground, runtime: &PythonRuntime) -> Result<Command> {
    let tests = ground.root.join("tests/sdk/python");
    let venv = ground.target.join("sdk/python");
    let lock = tests.join("requirements.lock");
    let made_of = format!("{}\n{}", runtime.interpreter.display(), read(&lock)?);
    if !is_made_of(&venv, &made_of) {
        say("installing the Python SDKs, once");
        empty(&venv)?;
        let mut make = Command::new(&runtime.interpreter);
        make.args(["-I", "-m", "venv"]).arg(&venv);
        must(make)?;
        let mut pip = interpreter(&venv);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
            .args(["--require-hashes", "--only-binary", ":all:", "-r"])
            .arg(&lock);
        must(pip)?;
        fs::write(venv.join(MARK), made_of)?;
    }
    let mut command = interpreter(&venv);
    command.args(["-m", "pytest"]).current_dir(tests);
    command.env("PYTHONDONTWRITEBYTECODE", "1").env("SANDGATE_TARGET", &ground.target);
    Ok(command)
}

fn interpreter(venv: &Path) -> Command {
    let mut command = Command::new(venv.join("bin/python3"));
    command.env_remove("PYTHONPATH").env_remove("PYTHONHOME");
    command
}

/// The tests of the Node clients. Node finds packages only above the file that wants them, so the tests
/// are copied to where their packages are.
pub(crate) fn node(ground: &Ground) -> Result<Command> {
    let tests = ground.root.join("tests/sdk/node");
    let folder = ground.target.join("sdk/node");
    let package = ["package.json", "package-lock.json", ".npmrc"];
    let texts: Vec<String> = package.iter().map(|name| read(&tests.join(name))).collect::<Result<_>>()?;
    let made_of = texts.concat();
    if !is_made_of(&folder, &made_of) {
        say("installing the Node SDKs, once");
        empty(&folder)?;
        for name in package {
            fs::copy(tests.join(name), folder.join(name))?;
        }
        let mut npm = Command::new("npm");
        npm.args(["ci", "--no-audit", "--no-fund", "--loglevel", "error"]).current_dir(&folder);
        must(npm)?;
        fs::write(folder.join(MARK), made_of)?;
    }
    for module in modules(&tests)? {
        fs::copy(tests.join(&module), folder.join(&module))?;
    }
    let mut command = Command::new("node");
    command.args(["--test", "--test-reporter=./reporter.mjs", "all.test.mjs"]).current_dir(folder);
    command.env("SANDGATE_TARGET", &ground.target);
    Ok(command)
}

fn modules(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut modules = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = PathBuf::from(entry?.file_name());
        if name.extension().is_some_and(|extension| extension == "mjs") {
            modules.push(name);
        }
    }
    Ok(modules)
}

fn read(file: &Path) -> Result<String> {
    fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}

fn is_made_of(folder: &Path, made_of: &str) -> bool {
    fs::read_to_string(folder.join(MARK)).is_ok_and(|text| text == made_of)
}

/// A new folder in place of what an earlier attempt or another set of packages left.
fn empty(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    Ok(fs::create_dir_all(folder)?)
}
