//! A Java development kit of the distribution, the driver compiled with it, and an archive of the classes that
//! every context loads at its start.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::add::Making;
use super::{Tool, copy, debian, sources};
use crate::runtime::RuntimeError;

/// In order of preference where none was asked for; the driver needs 17 at least.
const RELEASES: [&str; 3] = ["17", "21", "25"];
/// Parts that neither the interpreter nor the compiler needs.
const WITHOUT: [&str; 7] = ["docs", "include", "jmods", "legal", "man", "src.zip", "demo"];

pub(super) fn make(making: &mut Making<'_>) -> Result<String, RuntimeError> {
    let line = making.edition.line();
    let wanted = line.as_ref().map_or(&RELEASES[..], std::slice::from_ref);
    let (root, kit) = match of_the_host(wanted) {
        Some(kit) => (PathBuf::from("/"), kit),
        None => unpacked(making, wanted)?,
    };
    making.progress.stage("copying the development kit");
    copy::tree(&root, &kit, &making.whole, &WITHOUT)?;
    let mut version = Command::new(making.whole.join("bin/java"));
    version.args(["-XshowSettings:properties", "-version"]);
    let version = properties(making, version)?;

    making.progress.stage("compiling the driver");
    let (source, classes) = (making.aside.join("java"), making.aside.join("classes"));
    sources::unpack(Tool::Java, &source)?;
    let mut compile = Command::new(making.whole.join("bin/javac"));
    compile.args(["-nowarn", "-encoding", "UTF-8", "-d"]).arg(&classes).arg(source.join("JShellDriver.java"));
    making.run("compile the driver", compile)?;
    let driver = making.whole.join("driver");
    fs::create_dir(&driver).map_err(RuntimeError::file("create", &driver))?;
    let mut pack = Command::new(making.whole.join("bin/jar"));
    // Only of an archive can classes be shared.
    pack.args(["--create", "--no-manifest", "--file"]).arg(driver.join("driver.jar"));
    pack.arg("-C").arg(&classes).arg(".");
    making.run("pack the driver", pack)?;
    archive(making, &driver)?;
    Ok(version)
}

/// Classes as they are in memory after a first run, to be mapped by every later one. Within it stands the path of the
/// driver, which is another inside a sandbox; so both go through a descriptor of the folder.
fn archive(making: &mut Making<'_>, driver: &Path) -> Result<(), RuntimeError> {
    making.progress.stage("archiving the classes that every context loads");
    let requests = making.aside.join("requests");
    fs::write(&requests, REHEARSAL).map_err(RuntimeError::file("write", &requests))?;
    let mut command = Command::new("/bin/sh");
    command.args(["-c", REHEARSE, "sh"]).arg(&requests).arg(driver);
    command.arg(making.whole.join("bin/java")).arg(driver.join("classes.jsa")).env("HOME", &making.aside);
    making.run("archive its classes", command)
}

const REHEARSE: &str = "exec 3<\"$1\" 4>/dev/null 9<\"$2\" && \
    exec \"$3\" -Dsandgate.archive=1 -XX:ArchiveClassesAtExit=\"$4\" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC \
    -cp /proc/self/fd/9/driver.jar JShellDriver";
/// Cells as the driver takes them: `int a = 10;`, `System.out.println("a " + a); a * 4 + 2`, an error, a throw.
const REHEARSAL: &str = "aW50IGEgPSAxMDs=\nU3lzdGVtLm91dC5wcmludGxuKCJhICIgKyBhKTsgYSAqIDQgKyAy\naW50IHggPSA7\n\
    dGhyb3cgbmV3IElsbGVnYWxTdGF0ZUV4Y2VwdGlvbigibm8iKTs=\n";

/// One that is installed as a package, of the distribution or of Temurin, with JShell.
fn of_the_host(releases: &[&str]) -> Option<PathBuf> {
    let kits = fs::read_dir("/usr/lib/jvm").ok()?.flatten().map(|entry| entry.path());
    let kits: Vec<PathBuf> = kits.filter(|kit| kit.join("bin/jshell").is_file()).collect();
    releases.iter().find_map(|release| {
        let starts = [format!("java-{release}-openjdk-"), format!("temurin-{release}-jdk-")];
        let named = |kit: &&PathBuf| {
            let name = kit.file_name().unwrap_or_default().to_string_lossy();
            starts.iter().any(|start| name.starts_with(start))
        };
        kits.iter().find(named).cloned()
    })
}

fn unpacked(making: &mut Making<'_>, releases: &[&str]) -> Result<(PathBuf, PathBuf), RuntimeError> {
    for release in releases {
        let packages = ["jdk", "jre"].map(|part| format!("openjdk-{release}-{part}-headless"));
        if !debian::has(making, &packages[0])? {
            continue;
        }
        let root = debian::unpack(making, &packages)?;
        let folder = root.join("usr/lib/jvm");
        let entries = fs::read_dir(&folder).map_err(RuntimeError::file("read", &folder))?;
        let kit = entries.flatten().map(|entry| entry.path()).find(|path| path.join("bin/jshell").is_file());
        return kit.map(|kit| (root, kit)).ok_or_else(|| making.failed("use it", "there is no jshell in it"));
    }
    let names: Vec<String> =
        releases.iter().map(|release| format!("openjdk-{release}-jdk-headless")).collect();
    let said = format!("apt knows no package {}; run apt-get update first", names.join(" or "));
    Err(making.failed("download it", &said))
}

/// `java.version` of what it says about itself.
fn properties(making: &mut Making<'_>, command: Command) -> Result<String, RuntimeError> {
    let mut version = None;
    making.lines("start it", command, &mut |line| {
        if let Some(value) = line.trim().strip_prefix("java.version = ") {
            version = Some(value.to_owned());
        }
    })?;
    version.ok_or_else(|| making.failed("start it", "it does not say its version"))
}
