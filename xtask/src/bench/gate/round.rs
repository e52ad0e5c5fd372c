//! One round: every case through everyone, and what each way adds to the direct one within it. A machine
//! that becomes slower meanwhile changes both alike.

use std::collections::BTreeMap;

use super::subjects::Subject;
use crate::bench::samples::Samples;

#[derive(Debug)]
pub(super) struct Round {
    pub(super) number: usize,
    times: BTreeMap<(String, &'static str), Vec<f64>>,
}

/// The series of a subject's times.
pub(super) fn series(case: &str, subject: Subject) -> String {
    format!("{case}_{}_ms", subject.name())
}

/// The series of what a subject added, one value for each round.
pub(super) fn added_series(case: &str, subject: Subject) -> String {
    format!("{case}_{}_added_ms", subject.name())
}

impl Round {
    pub(super) fn new(number: usize) -> Self {
        Self { number, times: BTreeMap::new() }
    }

    pub(super) fn add(&mut self, case: &str, subject: Subject, milliseconds: f64) {
        self.times.entry((case.to_owned(), subject.name())).or_default().push(milliseconds);
    }

    pub(super) fn median(&self, case: &str, subject: Subject) -> Option<f64> {
        let times = self.times.get(&(case.to_owned(), subject.name()))?;
        let mut samples = Samples::default();
        samples.add_all("", times);
        samples.median("")
    }

    /// Keeps all times, and the differences of the medians: subject less direct, less `own`, which is
    /// the time that the code itself took.
    pub(super) fn keep(&self, own: Option<f64>, samples: &mut Samples) {
        for ((case, name), times) in &self.times {
            samples.add_all(&format!("{case}_{name}_ms"), times);
        }
        let cases: std::collections::BTreeSet<&String> = self.times.keys().map(|(case, _)| case).collect();
        for case in cases {
            for subject in [Subject::Gate, Subject::LiteLlm] {
                let (Some(through), Some(direct)) =
                    (self.median(case, subject), self.median(base(case), Subject::Direct))
                else {
                    continue;
                };
                // LiteLLM's sandbox is one that answers at once.
                let ran = case.starts_with("loop") && subject == Subject::Gate;
                let own = own.filter(|_| ran).unwrap_or_default();
                samples.add(&added_series(case, subject), through - direct - own);
            }
        }
    }
}

/// The case whose direct way is the measure: a loop in a new container is measured by the same two turns.
fn base(case: &str) -> &str {
    case.strip_suffix("_fresh").unwrap_or(case)
}

#[cfg(test)]
#[path = "round_tests.rs"]
mod tests;
