//! Where things are: the work tree, the build's folder, the homes that tests and benchmarks use.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

#[derive(Debug)]
pub(crate) struct Ground {
    /// The work tree.
    pub(crate) root: PathBuf,
    /// Cargo's target folder; nothing is written outside it.
    pub(crate) target: PathBuf,
}

impl Ground {
    pub(crate) fn find() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in no work tree")?;
        // <target>/<profile>/xtask, wherever Cargo was told to build.
        let program = std::env::current_exe().context("cannot find the path of this program")?;
        let target = program.ancestors().nth(2).context("this program lies in no target folder")?;
        Ok(Self { root: root.to_owned(), target: target.to_owned() })
    }

    /// `SANDGATE_HOME` of tests: engines of the tests put their runs there, and share its Python runtime.
    pub(crate) fn test_home(&self) -> PathBuf {
        self.target.join("test-home")
    }

    /// The Cargo that started this program, in the work tree.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(arguments).current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target);
        // Said about this program, not about what is built next; build scripts must not see it change.
        for (name, _) in std::env::vars_os() {
            let of_this_package = name.to_str().is_some_and(|name| {
                name.starts_with("CARGO_PKG_")
                    || name.starts_with("CARGO_MANIFEST_")
                    || name == "CARGO_BIN_NAME"
            });
            if of_this_package {
                command.env_remove(name);
            }
        }
        command
    }
}
