//! `sandgate config`: looks at a configuration file without serving, and tells what one may hold.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use crate::cli::ConfigCommand;
use crate::config::{Settings, schema};

pub(crate) fn config(command: &ConfigCommand) -> Result<ExitCode> {
    match command {
        ConfigCommand::Check { file } => check(file)?,
        ConfigCommand::Schema => std::io::stdout().lock().write_all(schema().as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn check(file: &Path) -> Result<()> {
    let settings = Settings::load_file(file)?;
    let mut out = std::io::stdout().lock();
    for warning in &settings.warnings {
        writeln!(out, "warning: {warning}")?;
    }
    if settings.master_key.is_some() && !settings.keyless.is_empty() {
        let names = settings.keyless.join(", ");
        writeln!(out, "warning: with a master key these upstreams need a key of their own: {names}")?;
    }
    for line in settings.described() {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "{} can be used", file.display())?;
    Ok(())
}
