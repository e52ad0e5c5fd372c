//! Puts figures where readers look: between the marks of their benchmark in BENCHMARKS.md.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

pub(super) fn put(file: &Path, name: &str, text: &str) -> Result<()> {
    let old = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let new = replaced(&old, name, text)
        .with_context(|| format!("{} has no marks of the benchmark '{name}'", file.display()))?;
    super::write(file, &new)
}

/// None: the marks are missing.
fn replaced(old: &str, name: &str, text: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- {name}: begin -->"), format!("<!-- {name}: end -->"));
    let (before, rest) = old.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}\n\n{text}\n\n{end}{after}"))
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
