//! Builds the zygote's native library and the agent, and leaves them where the crate embeds them.
//!
//! They are builds of their own because Cargo cannot embed one package's file in another, and they must abort on
//! panic, which the rest of the program must not.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// The folders with what runs cells of other languages than Python, and which files of theirs are embedded.
const DRIVERS: [(&str, &[&str]); 5] = [
    ("go", &[".go", "go.mod", ".lock"]),
    ("java", &[".java"]),
    ("node", &[".cjs", ".json", ".lock"]),
    ("node_types", &[".cjs", ".json"]),
    ("r", &[".R", ".conf"]),
];

fn main() -> Outcome<()> {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let crates = here.parent().ok_or("no folder above")?;
    for part in ["agent", "forkloop", "jail"] {
        println!("cargo:rerun-if-changed={}", crates.join(part).join("src").display());
        println!("cargo:rerun-if-changed={}", crates.join(part).join("Cargo.toml").display());
    }
    let runtimes = crates.join("../runtimes");
    list_files(&runtimes.join("python/sandgate_kernel"), &[".py"], &out.join("kernel_files.rs"))?;
    for (name, endings) in DRIVERS {
        list_files(&runtimes.join(name), endings, &out.join(format!("{name}_files.rs")))?;
    }
    let target = shared_target(&out);
    let triple = env::var("TARGET")?;
    for (part, file) in [("forkloop", "libsandgate_forkloop.so"), ("agent", "sandgate-agent")] {
        let whole = (part == "agent" && can_be_whole(&triple)).then_some(triple.as_str());
        build(&crates.join(part).join("Cargo.toml"), part, &target, whole)?;
        let made = whole.map_or_else(|| target.clone(), |triple| target.join(triple));
        fs::copy(made.join(part).join(file), out.join(file))?;
    }
    Ok(())
}

/// Whether the agent can have the C library in it. To find its libraries is a third of what it takes to start. Debian
/// has the library in both forms; where there is only the one, the agent is as good, and slower to start.
fn can_be_whole(triple: &str) -> bool {
    let asked = Command::new("cc").arg("-print-file-name=libc.a").output();
    let found = asked.ok().and_then(|said| String::from_utf8(said.stdout).ok());
    triple.ends_with("-linux-gnu") && found.is_some_and(|path| Path::new(path.trim()).is_absolute())
}

/// A part has a profile of its name. `whole`: for which target it is linked with all it needs.
fn build(manifest: &Path, part: &str, target: &Path, whole: Option<&str>) -> Outcome<()> {
    let mut command = Command::new(env::var("CARGO")?);
    command.arg("build");
    if let Some(triple) = whole {
        // Named, although it is the outer build's: flags are then not for what runs while it is built.
        let flags = env::var("RUSTFLAGS").unwrap_or_default();
        command.args(["--target", triple]).env("RUSTFLAGS", format!("{flags} -Ctarget-feature=+crt-static"));
    }
    let status = command
        .args(["--locked", "--quiet", "--profile", part, "--package", &format!("sandgate-{part}")])
        .arg("--manifest-path")
        .arg(manifest)
        .arg("--target-dir")
        .arg(target)
        // The linter wraps the compiler for the outer build only.
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("CARGO_BUILD_TARGET")
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{part} could not be built; the errors are above").into())
    }
}

/// One folder for all profiles of the outer build, so that each is built once.
fn shared_target(out: &Path) -> PathBuf {
    // …/target/<profile>/build/<package>/out
    let target = out.ancestors().nth(4).unwrap_or(out);
    target.join("forkloop-build")
}

/// Writes a table of source files, with their paths below `folder`, to be embedded as they are.
fn list_files(folder: &Path, endings: &[&str], table: &Path) -> Outcome<()> {
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut names = Vec::new();
    find(folder, "", endings, &mut names)?;
    names.sort();
    let rows: String = names
        .iter()
        .map(|name| format!("    ({name:?}, include_bytes!({:?})),\n", folder.join(name)))
        .collect();
    fs::write(table, format!("&[\n{rows}]\n"))?;
    Ok(())
}

/// Adds what is below `folder`; `above` is the path so far. What a package manager put there is not ours.
fn find(folder: &Path, above: &str, endings: &[&str], names: &mut Vec<String>) -> Outcome<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().into_string().map_err(|_| "a file name that is not text")?;
        let path = format!("{above}{name}");
        if entry.file_type()?.is_dir() {
            if name != "node_modules" && name != "__pycache__" {
                find(&entry.path(), &format!("{path}/"), endings, names)?;
            }
        } else if endings.iter().any(|ending| name.ends_with(ending)) {
            names.push(path);
        }
    }
    Ok(())
}
