//! The last look before a runtime is used: its packages work here, and what they cache at first use is cached.

use std::fs;

use super::install::Attempt;
use super::{RuntimeError, process, relocate};

const SCRIPT: &str = include_str!("check.py");
const MODULES: [&str; 13] = [
    "numpy",
    "pandas",
    "scipy",
    "sympy",
    "sklearn",
    "PIL",
    "openpyxl",
    "requests",
    "bs4",
    "IPython",
    "matplotlib.font_manager",
    "matplotlib.pyplot",
    "seaborn",
];

impl Attempt<'_> {
    pub(super) fn check(&mut self) -> Result<(), RuntimeError> {
        self.progress.stage("checking the packages");
        let cache = self.venv.join("share/matplotlib-cache");
        fs::create_dir_all(&cache).map_err(RuntimeError::file("create", &cache))?;
        let (program, home) = (self.python(), self.temporary());
        let mut command = process::python(&program);
        // Whatever the packages keep in a home goes with the temporary folder, and the operator's fonts stay out.
        command.args(["-B", "-c", SCRIPT]).args(MODULES).env("MPLCONFIGDIR", &cache).env("MPLBACKEND", "agg");
        command.env("HOME", &home).env("XDG_CACHE_HOME", &home).env("XDG_CONFIG_HOME", &home);
        command.env("XDG_DATA_HOME", &home).env("TMPDIR", &home).env("IPYTHONDIR", &home);
        let ended = process::stream(command, &mut self.log, &mut |_| true)
            .map_err(|cause| RuntimeError::Run { program, cause })?;
        if !ended.status.success() {
            let said = process::last_line(ended.tail.iter().map(String::as_str)).to_owned();
            return Err(RuntimeError::Check { said, log: self.log_path.clone() });
        }
        let entries = fs::read_dir(&cache).map_err(RuntimeError::file("read", &cache))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.extension().is_some_and(|e| e == "json") {
                relocate::rewrite_font_list(&path, &self.venv)?;
            } else {
                // A lock file, left by a writer that is gone.
                let _ = fs::remove_file(path);
            }
        }
        Ok(())
    }
}
