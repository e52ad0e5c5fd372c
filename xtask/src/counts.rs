//! How many tests passed and failed, read from what Cargo's and Python's test runners say.

use std::fmt::{Display, Formatter};
use std::ops::AddAssign;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    /// Of a Python suite that has said how many tests ran, but not yet how they ended.
    ran: u64,
}

impl Counts {
    /// One failure that no test runner counted.
    pub(crate) const ONE_FAILED: Self = Self { passed: 0, failed: 1, ran: 0 };

    /// Takes in a line of output.
    pub(crate) fn read(&mut self, line: &str) {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("test result: ") {
            self.passed += number_before(rest, " passed");
            self.failed += number_before(rest, " failed");
        } else if let Some(rest) = line.strip_prefix("Ran ") {
            if rest.contains(" test") && rest.contains(" in ") {
                self.ran = rest.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0);
            }
        } else if self.ran > 0 && (is_verdict(line, "OK") || is_verdict(line, "FAILED")) {
            let failed =
                named(line, "failures") + named(line, "errors") + named(line, "unexpected successes");
            self.failed += failed;
            self.passed += self.ran.saturating_sub(failed + named(line, "skipped"));
            self.ran = 0;
        }
    }
}

fn is_verdict(line: &str, word: &str) -> bool {
    line.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("))
}

/// `ok. 12 passed; 0 failed` holds 12 before ` passed`.
fn number_before(text: &str, word: &str) -> u64 {
    let before = text.split(word).next().filter(|before| before.len() < text.len());
    let number = before.and_then(|before| before.rsplit(' ').next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// `FAILED (failures=1, errors=2)` names 1 as failures.
fn named(verdict: &str, name: &str) -> u64 {
    let inside = verdict.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or("");
    let value = inside.split(", ").find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    value.and_then(|value| value.parse().ok()).unwrap_or(0)
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

impl Display for Counts {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

#[cfg(test)]
#[path = "counts_tests.rs"]
mod tests;
