//! What an execution tells, in the words of execd.

use std::time::Duration;

use sandgate_core::{CodeError, ContextId, Event, MimeBundle};

use super::super::events::{complete, count, error, init, ping, result, status, stderr, stdout};
use super::runs::Claim;
use crate::lent::{ABORTED, BROKEN, Said, stopped_by};

const BROKE_OFF: &str = "the sandbox went away before the execution was finished";

/// Knows what was said already.
#[derive(Debug)]
pub(super) struct Words {
    /// The context is taken until all is said, or nobody listens any more.
    _claim: Claim,
    context: String,
    count_told: bool,
    /// Waits for the end, which may know better why the code stopped.
    error: Option<CodeError>,
    over: bool,
}

impl Words {
    pub(super) fn new(claim: Claim, context: &ContextId) -> Self {
        let context = context.to_string();
        Self { _claim: claim, context, count_told: false, error: None, over: false }
    }

    /// Once, and before the first value. One that never ran has none.
    fn count(&mut self, execution_count: u64, lines: &mut Vec<u8>) {
        if execution_count > 0 && !std::mem::replace(&mut self.count_told, true) {
            count(lines, execution_count);
        }
    }

    /// `why`: a name for what ended the code from outside.
    fn end(&mut self, why: Option<&str>, text: &str, took: Duration, lines: &mut Vec<u8>) {
        match (why, self.error.take()) {
            (None | Some(ABORTED), Some(raised)) => {
                failed(lines, &raised.name, &raised.value, &raised.traceback);
            }
            (Some(name), raised) => {
                let traceback = raised.map(|raised| raised.traceback).unwrap_or_default();
                failed(lines, name, text, &traceback);
            }
            (None, None) => complete(lines, took),
        }
        self.over = true;
    }
}

fn failed(lines: &mut Vec<u8>, name: &str, value: &str, traceback: &[String]) {
    status(lines, "error");
    error(lines, name, value, traceback);
}

impl Said for Words {
    /// At once: whoever wants to stop the code needs to know where it runs.
    fn begin(&mut self, lines: &mut Vec<u8>) {
        init(lines, &self.context);
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn quiet(&mut self, lines: &mut Vec<u8>) {
        ping(lines);
    }

    fn add(&mut self, event: Option<Event>, lines: &mut Vec<u8>) {
        match event {
            Some(Event::Stdout { text }) => stdout(lines, &text),
            Some(Event::Stderr { text }) => stderr(lines, &text),
            Some(Event::Note { text, .. }) => stderr(lines, &format!("[{text}]\n")),
            Some(Event::Display { data }) => result(lines, &renamed(data)),
            Some(Event::Result { data, execution_count }) => {
                self.count(execution_count, lines);
                result(lines, &renamed(data));
            }
            Some(Event::Error(raised)) => self.error = Some(raised),
            Some(Event::Started { .. } | Event::Files { .. }) => {}
            Some(Event::Done { ending, text, execution_count, duration_ms }) => {
                self.count(execution_count, lines);
                let took = Duration::try_from_secs_f64(duration_ms / 1000.0).unwrap_or_default();
                self.end(stopped_by(ending), &text, took, lines);
            }
            None => self.end(Some(BROKEN), BROKE_OFF, Duration::ZERO, lines),
        }
    }
}

/// Plain text goes by a name of its own; everything else by its type, pictures too.
fn renamed(mut data: MimeBundle) -> MimeBundle {
    if let Some(text) = data.remove("text/plain") {
        data.insert("text".to_owned(), text);
    }
    data
}
