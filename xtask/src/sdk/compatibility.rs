//! The table of COMPATIBILITY.md: which part of E2B's SDKs works with which release, as the tests said.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::packages::read;

const BEGIN: &str = "<!-- e2b: begin -->";
const END: &str = "<!-- e2b: end -->";

/// What one run of the tests said: the versions of the packages, and of each area how its tests ended.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Report {
    packages: BTreeMap<String, String>,
    areas: BTreeMap<String, Area>,
}

#[derive(Debug, Default, Deserialize)]
struct Area {
    passed: u64,
    failed: u64,
    /// Why tests of what is not there yet were expected to fail.
    waits: Vec<String>,
}

impl Report {
    pub(super) fn read(file: &Path) -> Result<Self> {
        serde_json::from_str(&read(file)?).with_context(|| format!("{} is no report", file.display()))
    }
}

/// The reports of all sets of packages, in the order of the columns.
#[derive(Debug, Default)]
pub(super) struct Compatibility(Vec<(String, Report)>);

impl Compatibility {
    pub(super) fn add(&mut self, language: &str, report: Report) {
        self.0.push((language.to_owned(), report));
    }

    /// The text with a new table between its marks.
    pub(super) fn put_into(&self, old: &str) -> Result<String> {
        let (before, rest) = old.split_once(BEGIN).context("COMPATIBILITY.md has lost its marks")?;
        let (_, after) = rest.split_once(END).context("COMPATIBILITY.md has lost its marks")?;
        Ok(format!("{before}{BEGIN}\n\n{}\n{END}{after}", self.table()))
    }

    fn table(&self) -> String {
        let mut notes: Vec<&str> = Vec::new();
        let mut text = String::from("| |");
        for (language, report) in &self.0 {
            let packages: Vec<String> =
                report.packages.iter().map(|(name, version)| format!("`{name}` {version}")).collect();
            let _ = write!(text, " {language}: {} |", packages.join(", "));
        }
        let _ = write!(text, "\n| --- |{}\n", " --- |".repeat(self.0.len()));
        for area in self.areas() {
            let _ = write!(text, "| {} |", area.replace('_', " "));
            for (_, report) in &self.0 {
                let _ = write!(text, " {} |", cell(report.areas.get(area), &mut notes));
            }
            text.push('\n');
        }
        for (number, note) in notes.iter().enumerate() {
            let _ = write!(text, "\n{}. {note}", number + 1);
        }
        if !notes.is_empty() {
            text.push('\n');
        }
        text
    }

    fn areas(&self) -> Vec<&str> {
        let mut areas: Vec<&str> =
            self.0.iter().flat_map(|(_, report)| report.areas.keys().map(String::as_str)).collect();
        areas.sort_unstable();
        areas.dedup();
        areas
    }
}

fn cell<'a>(area: Option<&'a Area>, notes: &mut Vec<&'a str>) -> String {
    let Some(area) = area.filter(|area| area.passed + area.failed > 0 || !area.waits.is_empty()) else {
        // Not in this release, or not tested in this language.
        return "–".to_owned();
    };
    let word = match (area.failed, area.passed, area.waits.is_empty()) {
        (1.., _, _) => "fails",
        (0, _, true) => "yes",
        (0, 0, false) => "not yet",
        (0, _, false) => "in part",
    };
    let mut numbers: Vec<usize> = Vec::new();
    for reason in &area.waits {
        let number = notes.iter().position(|note| note == reason).unwrap_or_else(|| {
            notes.push(reason);
            notes.len() - 1
        });
        numbers.push(number + 1);
    }
    numbers.sort_unstable();
    numbers.dedup();
    let numbers: Vec<String> = numbers.iter().map(|number| format!("({number})")).collect();
    [word, &numbers.join(" ")].join(" ").trim_end().to_owned()
}

#[cfg(test)]
#[path = "compatibility_tests.rs"]
mod tests;
