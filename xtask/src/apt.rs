//! Packages of the host, installed when they are missing and this is a Debian-like machine and root.

use std::process::Command;

use anyhow::{Result, bail};

use crate::run::{must, works};
use crate::say::say;

/// Installs `packages`, which are needed for `purpose`, or says in one sentence what to do.
pub(crate) fn install(packages: &[&str], purpose: &str) -> Result<()> {
    let names = packages.join(" ");
    if !rustix::process::geteuid().is_root() || !works(Command::new("apt-get").arg("--version")) {
        bail!(
            "{purpose} needs packages that are missing; install them first, on Debian: apt-get install {names}"
        );
    }
    say(&format!("installing for {purpose}: {names}"));
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command.arg("-qq").args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
        command
    };
    must(apt(&["update"]))?;
    must(apt(&[&["install", "-y", "--no-install-recommends"], packages].concat()))
}
