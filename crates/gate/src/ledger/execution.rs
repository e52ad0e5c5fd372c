//! The record of one execution: where it ran, what it used, how it ended, how much it said.

use std::sync::Arc;
use std::time::Duration;

use sandgate_core::{Container, Ending, Event, LimitKind, Meter, MimeBundle, Note, Sandbox};
use sandgate_store::StoreError;
use serde_json::{Value, json};

use super::Call;
use super::call::clipped;
use super::entry::Entry;
use super::kept_rich::KeptRich;
use super::kept_text::KeptText;

#[derive(Debug)]
pub(crate) struct ExecutionEntry {
    entry: Entry,
    call: Call,
    stdout: KeptText,
    stderr: KeptText,
    results: KeptText,
    rich: KeptRich,
    result_count: u64,
    files: u64,
    notes: Vec<Note>,
    ending: Option<Ending>,
    error: Option<Value>,
    /// The sandbox it was given to, and what that had used until then.
    sandbox: Option<(Arc<dyn Sandbox>, Option<Meter>)>,
}

/// What is about to run.
#[derive(Debug)]
pub(crate) struct What<'a> {
    pub(crate) language: &'a str,
    pub(crate) context: Option<&'a str>,
    pub(crate) code: &'a str,
    pub(crate) timeout: Option<Duration>,
}

impl ExecutionEntry {
    /// On disk before this returns; if it cannot be, nothing may run.
    pub(crate) async fn begin(
        call: &Call,
        container: &Container,
        what: &What<'_>,
    ) -> Result<Self, StoreError> {
        let kept = call.holds_code();
        let mut entry = Entry::new(call, "execution");
        entry.set_container(container.id().as_str());
        entry.note("backend", container.backend());
        entry.note("language", clipped(what.language));
        entry.note("context", what.context);
        entry.note("code_bytes", what.code.len());
        entry.note("timeout_ms", what.timeout.map(super::millis));
        if kept && entry.is_recorded() {
            entry.note("code", KeptText::whole(what.code).into_value());
        }
        call.used_container(container.id().as_str());
        entry.begin_now().await?;
        Ok(Self {
            entry,
            call: call.clone(),
            stdout: KeptText::new(kept),
            stderr: KeptText::new(kept),
            results: KeptText::new(kept),
            rich: KeptRich::new(kept),
            result_count: 0,
            files: 0,
            notes: Vec::new(),
            ending: None,
            error: None,
            sandbox: None,
        })
    }

    pub(crate) fn call(&self) -> &Call {
        &self.call
    }

    /// It is this sandbox's from now on; until here it waited for its owner's share and for a sandbox.
    pub(crate) fn starts_in(&mut self, sandbox: &Arc<dyn Sandbox>) {
        if self.entry.is_recorded() {
            self.entry.note("waited_ms", super::exact_millis(self.entry.began().elapsed()));
            self.sandbox = Some((Arc::clone(sandbox), sandbox.meter()));
        }
    }

    /// Sees every event go by.
    pub(crate) fn event(&mut self, event: &Event) {
        match event {
            Event::Started { .. } => {}
            Event::Stdout { text } => self.stdout.add(text),
            Event::Stderr { text } => self.stderr.add(text),
            Event::Display { data } | Event::Result { data, .. } => self.result(data),
            Event::Error(error) => {
                if self.call.holds_code() {
                    let value = KeptText::whole(&error.value).into_value();
                    self.error = Some(json!({"name": clipped(&error.name), "value": value}));
                }
            }
            Event::Note { note, .. } => self.notes.push(*note),
            Event::Files { changes } => self.files += changes.len() as u64,
            Event::Done { ending, duration_ms, .. } => {
                self.ending = Some(*ending);
                self.entry.note("duration_ms", *duration_ms);
                self.end(if *ending == Ending::Ok { "completed" } else { "failed" });
            }
        }
    }

    fn result(&mut self, data: &MimeBundle) {
        self.result_count += 1;
        self.rich.add(data);
        for (kind, value) in data {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            // A picture is of no use as text.
            if kind == "text/plain" {
                self.results.add(&text);
                self.results.add("\n");
            } else {
                self.results.count(text.len());
            }
        }
    }

    /// The sandbox could not be had, or it broke off.
    pub(crate) fn fail(mut self, why: &str) {
        self.entry.note("error", clipped(why));
        self.end("failed");
    }

    fn end(&mut self, status: &str) {
        if !self.entry.is_recorded() {
            return;
        }
        if let Some((sandbox, before)) = self.sandbox.take()
            && let Some(after) = sandbox.meter()
        {
            let before = before.map_or(0, |before| before.cpu_micros);
            let cpu = Duration::from_micros(after.cpu_micros.saturating_sub(before));
            self.entry.note("cpu_ms", super::exact_millis(cpu));
            self.entry.note("sandbox_memory_peak_bytes", after.memory_peak_bytes);
        }
        if let Some(ending) = self.ending {
            self.entry.note("exit_code", ending.exit_code());
            self.entry.note("ending", json!(ending).get("kind").cloned().unwrap_or_default());
            self.entry.note("limit", limit_of(ending, &self.notes));
        }
        if !self.notes.is_empty() {
            self.entry.note("notes", json!(self.notes));
        }
        let take = std::mem::take::<KeptText>;
        let texts = [
            ("stdout", take(&mut self.stdout)),
            ("stderr", take(&mut self.stderr)),
            ("results", take(&mut self.results)),
        ];
        for (name, text) in texts {
            self.entry.note(&format!("{name}_bytes"), text.bytes());
            if let Some(text) = text.into_value() {
                self.entry.note(name, text);
            }
        }
        if let Some(rich) = std::mem::replace(&mut self.rich, KeptRich::new(false)).into_value() {
            self.entry.note("shown", rich);
        }
        self.entry.note("result_count", self.result_count);
        self.entry.note("files_changed", self.files);
        if let Some(error) = self.error.take() {
            self.entry.note("raised", error);
        }
        self.call.add_execution(self.entry.began().elapsed());
        self.entry.end(status);
    }
}

impl Drop for ExecutionEntry {
    fn drop(&mut self) {
        self.end(super::entry::CANCELLED);
    }
}

/// The limit that was hit, whether it ended the code or not.
fn limit_of(ending: Ending, notes: &[Note]) -> Option<&'static str> {
    let noted = |note: &Note| match note {
        Note::OutputTrimmed => Some("output"),
        Note::ChildKilledForMemory => Some("memory"),
        Note::ProcessesRefused => Some("processes"),
        Note::DiskFull => Some("disk"),
        Note::FreshKernel | Note::FilesTrimmed => None,
    };
    match ending {
        Ending::TimedOut => Some("time"),
        Ending::LimitHit { limit: LimitKind::Memory } => Some("memory"),
        Ending::LimitHit { limit: LimitKind::Output } => Some("output"),
        Ending::LimitHit { limit: LimitKind::Disk } => Some("disk"),
        Ending::Ok
        | Ending::Raised
        | Ending::Interrupted
        | Ending::Signalled { .. }
        | Ending::Exited { .. } => notes.iter().find_map(noted),
    }
}
