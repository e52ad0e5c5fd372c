//! Bytecode ahead of time: a sandbox sees its packages read-only and could never keep what it compiles.

use std::path::Path;

use super::install::Attempt;
use super::{RuntimeError, VENV_INSIDE, files, process};

impl Attempt<'_> {
    /// Compiles every module so that tracebacks name the path of the inside, and without checks against the
    /// source at import, which nothing inside can change.
    pub(super) fn compile(&mut self) -> Result<(), RuntimeError> {
        self.progress.stage("compiling the packages to bytecode");
        let site = self.site_packages();
        let mut total = 0u64;
        files::walk(&site, &mut |path, kind| {
            total += u64::from(kind.is_file() && path.extension().is_some_and(|e| e == "py"));
            Ok(())
        })?;
        // Workers need semaphores, which some small containers lack.
        self.compile_with("0", &site, total).or_else(|_| self.compile_with("1", &site, total))
    }

    fn compile_with(&mut self, workers: &str, site: &Path, total: u64) -> Result<(), RuntimeError> {
        let program = self.python();
        let mut command = process::python(&program);
        // -f: pip itself came compiled by ensurepip, with paths of the host. -u: each line is seen at once.
        command.args([
            "-u",
            "-m",
            "compileall",
            "-f",
            "-j",
            workers,
            "--invalidation-mode",
            "unchecked-hash",
        ]);
        command.arg("-s").arg(&self.venv).args(["-p", VENV_INSIDE]).arg(site);

        let (progress, mut done, mut broken) = (self.progress, 0u64, 0u64);
        let mut on_line = |line: &str| {
            // Lines of two workers can run together.
            done += line.matches("Compiling '").count() as u64;
            broken += u64::from(line.starts_with("*** "));
            if done.is_multiple_of(50) {
                progress.step(done.min(total), total, "");
            }
            !line.starts_with("Compiling '") && !line.starts_with("Listing '")
        };
        let ended = process::stream(command, &mut self.log, &mut on_line)
            .map_err(|cause| RuntimeError::Run { program, cause })?;
        // Some packages carry files that are wrong on purpose, for their own tests; those stay uncompiled.
        if ended.status.success() || (broken > 0 && done >= total) {
            return Ok(());
        }
        let said = process::last_line(ended.tail.iter().map(String::as_str)).to_owned();
        Err(RuntimeError::Bytecode { said, log: self.log_path.clone() })
    }
}
