//! A whole execution as one value: what its events said, put together. The command line's `--json`
//! and the execute door both answer with it.

use serde::Serialize;

use crate::{BackendError, CodeError, Ending, Event, Execution, FileChange, MimeBundle, Note, Result};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    pub stdout: String,
    pub stderr: String,
    /// What the code displayed, and the value of its last expression.
    pub results: Vec<RichResult>,
    pub error: Option<CodeError>,
    pub notes: Vec<NoteText>,
    pub files: Vec<FileChange>,
    pub ending: Ending,
    /// The ending in words; empty when there is nothing to say.
    pub text: String,
    pub execution_count: u64,
    pub duration_ms: f64,
    /// Output, values, error and notes in the order they happened; neighbouring pieces of one stream
    /// are joined.
    pub outputs: Vec<Event>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RichResult {
    pub data: MimeBundle,
    /// The value of the last expression, not something displayed on the way.
    pub last_value: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NoteText {
    pub note: Note,
    pub text: String,
}

impl Outcome {
    /// Waits for the end of `execution`. Dropping the future interrupts the code.
    pub async fn collect(mut execution: Execution) -> Result<Self> {
        let mut builder = OutcomeBuilder::default();
        while let Some(event) = execution.events.recv().await {
            builder.add(event);
        }
        builder.finish()
    }
}

/// Puts an [`Outcome`] together, for readers that want the events as well.
#[derive(Debug, Default)]
pub struct OutcomeBuilder {
    stdout: String,
    stderr: String,
    results: Vec<RichResult>,
    error: Option<CodeError>,
    notes: Vec<NoteText>,
    files: Vec<FileChange>,
    outputs: Vec<Event>,
    done: Option<Done>,
}

#[derive(Debug)]
struct Done {
    ending: Ending,
    text: String,
    execution_count: u64,
    duration_ms: f64,
}

impl OutcomeBuilder {
    pub fn add(&mut self, event: Event) {
        match &event {
            Event::Stdout { text } => self.stdout.push_str(text),
            Event::Stderr { text } => self.stderr.push_str(text),
            Event::Display { data } => {
                self.results.push(RichResult { data: data.clone(), last_value: false });
            }
            Event::Result { data, .. } => {
                self.results.push(RichResult { data: data.clone(), last_value: true });
            }
            Event::Error(error) => self.error = Some(error.clone()),
            Event::Note { note, text } => self.notes.push(NoteText { note: *note, text: text.clone() }),
            Event::Started { .. } | Event::Files { .. } | Event::Done { .. } => {}
        }
        match event {
            Event::Started { .. } => {}
            Event::Files { changes } => self.files.extend(changes),
            Event::Done { ending, text, execution_count, duration_ms } => {
                self.done = Some(Done { ending, text, execution_count, duration_ms });
            }
            output => self.push_output(output),
        }
    }

    /// Fails when the last event never came: the backend broke off.
    pub fn finish(self) -> Result<Outcome> {
        let Some(done) = self.done else {
            return Err(BackendError::Engine(
                "the execution broke off without saying how it ended".to_owned(),
            ));
        };
        Ok(Outcome {
            stdout: self.stdout,
            stderr: self.stderr,
            results: self.results,
            error: self.error,
            notes: self.notes,
            files: self.files,
            ending: done.ending,
            text: done.text,
            execution_count: done.execution_count,
            duration_ms: done.duration_ms,
            outputs: self.outputs,
        })
    }

    fn push_output(&mut self, output: Event) {
        match (self.outputs.last_mut(), output) {
            (Some(Event::Stdout { text: before }), Event::Stdout { text })
            | (Some(Event::Stderr { text: before }), Event::Stderr { text }) => before.push_str(&text),
            (_, output) => self.outputs.push(output),
        }
    }
}

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;
