//! What a start tells while it takes its time: a bar on a terminal, plain lines elsewhere.

use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sandgate_engine::runtime::Progress;

use crate::logging;

/// A command that starts faster than this says nothing of it.
const PATIENCE: Duration = Duration::from_secs(3);
/// Plain lines for the steps of a stage come at most this often.
const LINE_EVERY: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) struct StartProgress {
    begun: Instant,
    /// A server says everything at once; other commands only when it takes long.
    talkative: bool,
    terminal: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    bar: Option<ProgressBar>,
    stage: String,
    /// A stage that came too early to be shown.
    untold: bool,
    last_line: Option<Instant>,
}

impl StartProgress {
    pub(crate) fn new(talkative: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        Self { begun: Instant::now(), talkative, terminal, state: Mutex::default() }
    }

    fn speaks(&self) -> bool {
        self.talkative || self.begun.elapsed() >= PATIENCE
    }

    fn with(&self, work: impl FnOnce(&mut State)) {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn line(&self, text: &str) {
        // Whoever reads the log by program wants all of it in one form.
        if self.talkative && logging::is_for_programs() {
            tracing::info!("{text}");
        } else {
            let _ = writeln!(std::io::stderr(), "{text}");
        }
    }

    fn tell_stage(&self, state: &mut State) {
        state.untold = false;
        if self.terminal {
            state.clear();
            state.bar = Some(spinner(&state.stage));
        } else {
            self.line(&state.stage);
            state.last_line = Some(Instant::now());
        }
    }
}

impl Progress for StartProgress {
    fn stage(&self, text: &str) {
        self.with(|state| {
            text.clone_into(&mut state.stage);
            state.untold = true;
            if self.speaks() {
                self.tell_stage(state);
            }
        });
    }

    fn step(&self, done: u64, total: u64, text: &str) {
        if !self.speaks() {
            return;
        }
        self.with(|state| {
            if state.untold {
                self.tell_stage(state);
            }
            if let Some(bar) = &state.bar {
                if bar.length() != Some(total) {
                    bar.set_length(total);
                    bar.set_style(style("{spinner} {prefix} [{bar:30}] {pos}/{len} {msg}"));
                }
                bar.set_position(done);
                bar.set_message(text.to_owned());
            } else if state.last_line.is_none_or(|last| last.elapsed() >= LINE_EVERY) {
                self.line(format!("{}: {done} of {total} {text}", state.stage).trim_end());
                state.last_line = Some(Instant::now());
            }
        });
    }

    fn finish(&self, text: &str) {
        self.with(|state| {
            // A command that had nothing to tell of its start does not begin at the end of it.
            let told = self.talkative || state.bar.is_some() || state.last_line.is_some();
            state.clear();
            if told && self.speaks() {
                self.line(text);
            }
        });
    }
}

impl State {
    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for State {
    /// A start that failed leaves no half-drawn bar above its error.
    fn drop(&mut self) {
        self.clear();
    }
}

fn spinner(stage: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.set_style(style("{spinner} {prefix} {msg}"));
    bar.set_prefix(stage.to_owned());
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
