//! The Go toolchain, with its standard library compiled once and the program that makes programs of cells.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::add::{Making, prune, rename};
use super::{Tool, sources, wheel};
use crate::runtime::{RuntimeError, files};

const LOCK: &str = include_str!("../../../../../runtimes/go/wheel.lock");

pub(super) fn make(making: &mut Making<'_>) -> Result<String, RuntimeError> {
    let unpacked = wheel::unpack(making, LOCK)?;
    let go = unpacked.join("go");
    for name in ["VERSION", "go.env", "bin", "lib", "pkg", "src"] {
        rename(&go.join(name), &making.whole.join(name))?;
    }
    remove_tests(&making.whole.join("src"))?;
    prune(&making.whole, &["lib/hg", "lib/wasm", "pkg/tool/README"])?;

    making.progress.stage("compiling Go's standard library");
    let mut std = go_command(making);
    // So compiled, the archives stay beside the sources, where every sandbox finds them.
    std.args(["install", "std"]).env("GODEBUG", "installgoroot=all");
    making.run("compile the standard library", std)?;

    making.progress.stage("compiling the driver");
    let source = making.aside.join("gocell");
    sources::unpack(Tool::Go, &source)?;
    let mut build = go_command(making);
    build.args(["build", "-trimpath", "-ldflags=-s -w", "-o"]).arg(making.whole.join("bin/gocell"));
    build.arg(".").current_dir(&source);
    making.run("compile the driver", build)?;

    let version = fs::read_to_string(making.whole.join("VERSION"))
        .map_err(RuntimeError::file("read", &making.whole.join("VERSION")))?;
    let first = version.lines().next().unwrap_or_default();
    Ok(first.trim_start_matches("go").to_owned())
}

/// With nothing of the operator's settings, no network, and everything it writes aside.
fn go_command(making: &Making<'_>) -> Command {
    let mut command = Command::new(making.whole.join("bin/go"));
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"GO") {
            command.env_remove(name);
        }
    }
    command.current_dir(&making.aside).env("GOROOT", &making.whole).env("GOTOOLCHAIN", "local");
    command.env("CGO_ENABLED", "0").env("GOFLAGS", "-mod=mod").env("GOPROXY", "off").env("GOENV", "off");
    command.env("GOCACHE", making.aside.join("go-cache")).env("GOPATH", making.aside.join("go-path"));
    command.env("GOTELEMETRY", "off").env("HOME", &making.aside);
    command
}

/// A third of the sources are tests and their data.
fn remove_tests(sources: &Path) -> Result<(), RuntimeError> {
    let mut found = Vec::new();
    files::walk(sources, &mut |path, kind| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if (kind.is_dir() && name == "testdata") || (kind.is_file() && name.ends_with("_test.go")) {
            found.push((path.to_path_buf(), kind.is_dir()));
        }
        Ok(())
    })?;
    for (path, is_folder) in found {
        let removed = if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        match removed {
            // Inside another that went before.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            removed => removed.map_err(RuntimeError::file("remove", &path))?,
        }
    }
    Ok(())
}
