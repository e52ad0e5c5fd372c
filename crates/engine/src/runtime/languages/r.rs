//! R of the distribution, unpacked with what it needs, and a start script that finds its parts from any folder.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::add::{Making, prune, rename};
use super::{Tool, copy, debian, sources};
use crate::runtime::RuntimeError;

/// Named even where the host has them: a host may lose them again. The fonts are for plots.
const PACKAGES: [&str; 5] = ["r-base-core", "libblas3", "liblapack3", "libgfortran5", "fonts-dejavu-core"];

pub(super) fn make(making: &mut Making<'_>) -> Result<String, RuntimeError> {
    if !debian::has(making, PACKAGES[0])? {
        let said = "apt knows no package r-base-core; run apt-get update first";
        return Err(making.failed("download it", said));
    }
    let packages = debian::with_what_is_missing(making, &PACKAGES)?;
    let root = debian::unpack(making, &packages)?;
    // Its settings are links to /etc, of which a sandbox has its own.
    let etc = root.join("usr/lib/R/etc");
    let settings = making.aside.join("etc");
    copy::tree(&root, &etc, &settings, &[])?;
    // What the installation of the package would put there.
    if !settings.join("Renviron").exists() && settings.join("Renviron.ucf").exists() {
        rename(&settings.join("Renviron.ucf"), &settings.join("Renviron"))?;
    }
    prune(&root, &["usr/lib/R/etc", "usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/info"])?;
    rename(&settings, &etc)?;
    rename(&root.join("usr"), &making.whole.join("usr"))?;
    // Older systems have libraries there as well.
    if root.join("lib").is_dir() {
        rename(&root.join("lib"), &making.whole.join("lib"))?;
    }
    let (bin, driver) = (making.whole.join("bin"), making.whole.join("driver"));
    fs::create_dir(&bin).map_err(RuntimeError::file("create", &bin))?;
    sources::unpack(Tool::R, &driver)?;
    for (name, text) in [("R", START), ("Rscript", RUN_SCRIPT)] {
        let path = bin.join(name);
        fs::write(&path, text).map_err(RuntimeError::file("write", &path))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
            .map_err(RuntimeError::file("change the mode of", &path))?;
    }
    let mut version = Command::new(bin.join("R"));
    version.args(["--no-echo", "--no-restore", "--no-save", "--vanilla", "-e"]);
    // With a plot, which needs the most of what was unpacked.
    version.arg(
        "png(tempfile(), type = 'cairo'); plot(1); invisible(dev.off()); cat(as.character(getRversion()))",
    );
    let said = making.ask("start it", version)?;
    Ok(said.lines().next_back().unwrap_or_default().trim().to_owned())
}

const START: &str = r#"#!/bin/sh
# R as the distribution built it, wherever its folder is.
root=$(dirname "$(dirname "$(readlink -f "$0")")")
export R_HOME="$root/usr/lib/R" R_SHARE_DIR="$root/usr/share/R/share"
export R_INCLUDE_DIR="$root/usr/share/R/include" R_DOC_DIR="$root/usr/share/R/doc"
libraries="$R_HOME/lib"
for folder in "$root"/usr/lib/*-linux-gnu*; do
  libraries="$libraries:$folder/blas:$folder/lapack:$folder"
done
for folder in "$root"/lib/*-linux-gnu*; do
  libraries="$libraries:$folder"
done
export LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export FONTCONFIG_FILE="${FONTCONFIG_FILE:-$root/driver/fonts.conf}"
exec "$R_HOME/bin/exec/R" "$@"
"#;

const RUN_SCRIPT: &str = r#"#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
if [ "$1" = -e ]; then
  exec "$here/R" --no-echo --no-restore "$@"
fi
file=$1
shift
exec "$here/R" --no-echo --no-restore --file="$file" --args "$@"
"#;
