//! Builds the zygote's native library and leaves it where the crate embeds it.
//!
//! It is a build of its own because Cargo cannot embed one package's shared library in another, and it
//! must abort on panic, which the rest of the program must not.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let crates = here.parent().ok_or("no folder above")?;
    for watched in ["forkloop/src", "forkloop/Cargo.toml", "jail/src", "jail/Cargo.toml"] {
        println!("cargo:rerun-if-changed={}", crates.join(watched).display());
    }
    list_kernel_files(&crates.join("../runtimes/python/sandgate_kernel"), &out)?;
    let target = shared_target(&out);
    let status = Command::new(env::var("CARGO")?)
        .args(["build", "--locked", "--quiet", "--profile", "forkloop", "--package", "sandgate-forkloop"])
        .arg("--manifest-path")
        .arg(crates.join("forkloop/Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        // The linter wraps the compiler for the outer build only.
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("CARGO_BUILD_TARGET")
        .status()?;
    if !status.success() {
        return Err("the zygote's native library could not be built; the errors are above".into());
    }
    fs::copy(target.join("forkloop/libsandgate_forkloop.so"), out.join("libsandgate_forkloop.so"))?;
    Ok(())
}

/// One folder for all profiles of the outer build, so that the library is built once.
fn shared_target(out: &Path) -> PathBuf {
    // …/target/<profile>/build/<package>/out
    let target = out.ancestors().nth(4).unwrap_or(out);
    target.join("forkloop-build")
}

/// Writes a table of the kernel's source files, to be embedded as they are.
fn list_kernel_files(folder: &Path, out: &Path) -> Outcome<()> {
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().into_string().map_err(|_| "a file name that is not text")?;
        if name.ends_with(".py") {
            names.push(name);
        }
    }
    names.sort();
    let rows: String = names
        .iter()
        .map(|name| format!("    ({name:?}, include_bytes!({:?})),\n", folder.join(name)))
        .collect();
    fs::write(out.join("kernel_files.rs"), format!("&[\n{rows}]\n"))?;
    Ok(())
}
