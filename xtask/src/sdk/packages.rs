//! Packages of clients, installed once below the target folder from what pins them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use sandgate_engine::runtime::PythonRuntime;

use crate::run::must;
use crate::say::say;

/// Beside the folders of tests: modules that all of them use.
const COMMON: &str = "node_common";
/// Written last, with all that a folder was made of.
const MARK: &str = "made-of";

/// A virtual environment with exactly what `lock` names. Gives its interpreter.
pub(super) fn python(venv: &Path, lock: &Path, runtime: &PythonRuntime) -> Result<Command> {
    let made_of = format!("{}\n{}", runtime.interpreter.display(), read(lock)?);
    if !is_made_of(venv, &made_of) {
        say(&format!("installing the packages of {}, once", name(lock)));
        empty(venv)?;
        let mut make = Command::new(&runtime.interpreter);
        make.args(["-I", "-m", "venv"]).arg(venv);
        must(make)?;
        let mut pip = interpreter(venv);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
            .args(["--require-hashes", "--only-binary", ":all:", "-r"])
            .arg(lock);
        must(pip)?;
        fs::write(venv.join(MARK), made_of)?;
    }
    Ok(interpreter(venv))
}

fn interpreter(venv: &Path) -> Command {
    let mut command = Command::new(venv.join("bin/python3"));
    command.env_remove("PYTHONPATH").env_remove("PYTHONHOME");
    command
}

/// What `packages` pins, in `folder`, with the modules of `tests`: Node finds packages only above the file
/// that wants them.
pub(super) fn node(folder: &Path, packages: &Path, tests: &Path) -> Result<Command> {
    let pinned = ["package.json", "package-lock.json", ".npmrc"];
    let texts: Vec<String> = pinned.iter().map(|name| read(&packages.join(name))).collect::<Result<_>>()?;
    let made_of = texts.concat();
    if !is_made_of(folder, &made_of) {
        say(&format!("installing the packages of {}, once", name(packages)));
        empty(folder)?;
        for name in pinned {
            fs::copy(packages.join(name), folder.join(name))?;
        }
        let mut npm = Command::new("npm");
        npm.args(["ci", "--no-audit", "--no-fund", "--loglevel", "error"]).current_dir(folder);
        must(npm)?;
        fs::write(folder.join(MARK), made_of)?;
    }
    // What all have first, so that one of the tests' own takes its place.
    let common = tests.with_file_name(COMMON);
    for modules_of in [&*common, tests] {
        for module in modules(modules_of)? {
            fs::copy(modules_of.join(&module), folder.join(&module))?;
        }
    }
    let mut command = Command::new("node");
    command.current_dir(folder);
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

fn name(path: &Path) -> String {
    let words: Vec<_> = path.iter().rev().take(2).map(|word| word.to_string_lossy()).collect();
    words.into_iter().rev().collect::<Vec<_>>().join("/")
}

pub(super) fn read(file: &Path) -> Result<String> {
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
