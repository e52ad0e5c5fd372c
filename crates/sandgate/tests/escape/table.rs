//! Runs attempts, a few at a time, and keeps what each came to.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::attempt::{Attempt, Verdict};

/// Attempts at once.
const WORKERS: usize = 3;

pub(crate) struct Table {
    name: &'static str,
    /// Which layer is off.
    within: &'static str,
    rows: Vec<Row>,
}

struct Row {
    name: String,
    verdict: Verdict,
    /// What should have happened, if it did not.
    missed: Option<String>,
    took: Duration,
}

impl Table {
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, within: "", rows: Vec::new() }
    }

    /// Names what the next rows are about.
    pub(crate) fn within(&mut self, what: &'static str) -> &mut Self {
        self.within = what;
        self
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// One row for each attempt; `missed` says what should have happened, if it did not.
    pub(crate) fn fill<'a>(
        &mut self,
        attempts: impl IntoIterator<Item = &'a Attempt>,
        run: impl Fn(&Attempt) -> Result<Verdict> + Sync,
        missed: impl Fn(&Attempt, &Verdict) -> Option<String> + Sync,
    ) {
        let waiting = Mutex::new(attempts.into_iter().collect::<Vec<_>>().into_iter());
        let done = Mutex::new(Vec::new());
        // Those fill memory and the process table, which one at a time may do.
        let greedy = Mutex::new(());
        let work = || {
            while let Some(attempt) = lock(&waiting).next() {
                let _alone = attempt.name.starts_with("limits/").then(|| lock(&greedy));
                let begun = Instant::now();
                let verdict = run(attempt).unwrap_or_else(|error| Verdict::Neither(format!("{error:#}")));
                let (missed, took) = (missed(attempt, &verdict), begun.elapsed());
                let name = match self.within {
                    "" => attempt.name.clone(),
                    off => format!("without {off}: {}", attempt.name),
                };
                lock(&done).push(Row { name, verdict, missed, took });
            }
        };
        thread::scope(|scope| {
            for _ in 0..WORKERS {
                scope.spawn(work);
            }
        });
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by(|a, b| a.name.cmp(&b.name));
        self.rows.extend(done);
    }

    /// Also leaves all rows in a file below the target folder, to be read after a failure.
    pub(crate) fn assert_nothing_missed(&self, at_least: usize) {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("escape-{}.txt", self.name));
        // Only an aid: a run is no worse for it.
        let _ = fs::write(&file, self.text(|_| true));
        let missed = self.text(|row| row.missed.is_some());
        let count = missed.lines().count();
        assert!(
            missed.is_empty(),
            "{count} of {} attempts:\n{missed}all in {}",
            self.rows.len(),
            file.display()
        );
        assert!(self.rows.len() >= at_least, "only {} attempts ran", self.rows.len());
    }

    fn text(&self, wanted: impl Fn(&Row) -> bool) -> String {
        let rows = || self.rows.iter().filter(|row| wanted(row));
        let width = rows().map(|row| row.name.len()).max().unwrap_or_default();
        let mut text = String::new();
        for Row { name, verdict, missed, took } in rows() {
            let wanted = missed.as_ref().map_or_else(String::new, |wanted| format!(", wanted {wanted}"));
            let _ = writeln!(text, "{name:width$}  {:6.3} s  {verdict}{wanted}", took.as_secs_f64());
        }
        text
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
