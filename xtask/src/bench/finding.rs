//! What a benchmark found, and what every benchmark does with it: tables to read, JSON with every sample, its part of
//! BENCHMARKS.md.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;

use super::markdown::{figure, table};
use super::samples::{Samples, Summary};
use super::targets::Target;
use super::{record, write};
use crate::ground::Ground;
use crate::run::must;
use crate::say::say;

#[derive(Debug)]
pub(super) struct Finding {
    /// Of the benchmark: `cargo xtask bench NAME`.
    pub(super) name: &'static str,
    /// Its arguments, as somebody would type them to have the same again.
    pub(super) arguments: String,
    /// On what, and with which versions: figures without them mean nothing.
    pub(super) measured: String,
    /// Markdown, in the order in which it is to be read.
    pub(super) tables: Vec<String>,
    pub(super) bars: Vec<Target>,
    pub(super) samples: Samples,
}

impl Finding {
    /// Shows it, keeps every sample, and puts it into BENCHMARKS.md if that was asked for.
    pub(super) fn publish(&self, ground: &Ground, record: bool) -> Result<ExitCode> {
        let text = self.as_text();
        say(&text);
        let out = ground.target.join(format!("bench-{}.json", self.name));
        write(&out, &self.as_json()?)?;
        say(&format!("\nraw samples: {}", out.display()));
        if record {
            record::put(&ground.root.join("BENCHMARKS.md"), self.name, &text)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn command(&self) -> String {
        format!("cargo xtask bench {} {}", self.name, self.arguments).trim_end().to_owned()
    }

    fn as_text(&self) -> String {
        let mut parts = vec![format!("`{}`", self.command()), self.measured.clone()];
        parts.extend(self.tables.iter().cloned());
        parts.push(self.held());
        parts.join("\n\n")
    }

    fn held(&self) -> String {
        let mut rows = vec![["bar (medians)", "wanted", "measured", ""].map(str::to_owned)];
        for bar in &self.bars {
            let held = if bar.held { "held" } else { "**not held**" };
            rows.push([bar.what.clone(), bar.bound.to_string(), figure(bar.measured), held.to_owned()]);
        }
        table(&rows)
    }

    fn as_json(&self) -> Result<String> {
        #[derive(Serialize)]
        struct Json<'a> {
            command: String,
            measured: &'a str,
            bars: &'a [Target],
            summaries: BTreeMap<&'a str, Summary>,
            samples: &'a Samples,
        }
        Ok(serde_json::to_string_pretty(&Json {
            command: self.command(),
            measured: &self.measured,
            bars: &self.bars,
            summaries: self.samples.summaries(),
            samples: &self.samples,
        })?)
    }
}

/// Before anything is measured: the program as users have it, and this one built in the same way. `Some` when another
/// process has done the work, because this one is not.
pub(super) fn optimised(
    ground: &Ground,
    name: &str,
    arguments: &str,
    record: bool,
) -> Result<Option<ExitCode>> {
    must(ground.cargo(&["build", "--quiet", "--release", "--package", "sandgate"]))?;
    if !cfg!(debug_assertions) {
        return Ok(None);
    }
    let mut command =
        ground.cargo(&["run", "--quiet", "--release", "--package", "xtask", "--", "bench", name]);
    command.args(arguments.split_whitespace());
    if record {
        command.arg("--record");
    }
    must(command)?;
    Ok(Some(ExitCode::SUCCESS))
}

#[cfg(test)]
#[path = "finding_tests.rs"]
mod tests;
