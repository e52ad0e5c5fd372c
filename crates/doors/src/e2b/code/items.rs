//! The lines of an answer: what an execution tells, in the words of E2B's code interpreter.

use sandgate_core::{CodeError, Event, MimeBundle};
use serde::Serialize;
use serde_json::{Map, Value, json};
use time::OffsetDateTime;

use crate::lent::{ABORTED, BROKEN, Said, add_line, stopped_by};

const BROKE_OFF: &str = "Connection to the execution was closed before the execution was finished";

/// The names that E2B has for the forms of a value that are text.
const TEXTS: [(&str, &str); 9] = [
    ("text/plain", "text"),
    ("text/html", "html"),
    ("text/markdown", "markdown"),
    ("image/svg+xml", "svg"),
    ("image/png", "png"),
    ("image/jpeg", "jpeg"),
    ("application/pdf", "pdf"),
    ("text/latex", "latex"),
    ("application/javascript", "javascript"),
];

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item<'a> {
    NumberOfExecutions {
        execution_count: u64,
    },
    Stdout {
        text: &'a str,
        timestamp: String,
    },
    Stderr {
        text: &'a str,
        timestamp: String,
    },
    Result {
        #[serde(flatten)]
        forms: Map<String, Value>,
        extra: Map<String, Value>,
        is_main_result: bool,
    },
    Error {
        name: &'a str,
        value: &'a str,
        traceback: String,
    },
    Keepalive,
    EndOfExecution,
}

/// Knows what was said already.
#[derive(Debug, Default)]
pub(super) struct Items {
    number_told: bool,
    /// Waits for the end, which may know better why the code stopped.
    error: Option<CodeError>,
    over: bool,
}

impl Said for Items {
    fn is_over(&self) -> bool {
        self.over
    }

    fn quiet(&mut self, lines: &mut Vec<u8>) {
        add_line(lines, &Item::Keepalive);
    }

    fn add(&mut self, event: Option<Event>, lines: &mut Vec<u8>) {
        match event {
            Some(Event::Started { execution_count }) => self.number(execution_count, lines),
            Some(Event::Stdout { text }) => {
                add_line(lines, &Item::Stdout { text: &text, timestamp: now() });
            }
            Some(Event::Stderr { text }) => complain(&text, lines),
            Some(Event::Note { text, .. }) => complain(&format!("[{text}]\n"), lines),
            Some(Event::Display { data }) => add_line(lines, &result(data, false)),
            Some(Event::Result { data, execution_count }) => {
                self.number(execution_count, lines);
                add_line(lines, &result(data, true));
            }
            Some(Event::Error(error)) => self.error = Some(error),
            Some(Event::Files { .. }) => {}
            Some(Event::Done { ending, text, execution_count, .. }) => {
                self.number(execution_count, lines);
                self.end(stopped_by(ending), &text, lines);
            }
            None => self.end(Some(BROKEN), BROKE_OFF, lines),
        }
    }
}

impl Items {
    /// Once, and as early as it is known. One that never ran has none.
    fn number(&mut self, execution_count: u64, lines: &mut Vec<u8>) {
        if execution_count > 0 && !std::mem::replace(&mut self.number_told, true) {
            add_line(lines, &Item::NumberOfExecutions { execution_count });
        }
    }

    /// `why`: a name for what ended the code from outside.
    fn end(&mut self, why: Option<&str>, text: &str, lines: &mut Vec<u8>) {
        let raised = self.error.take();
        match (why, raised) {
            (None | Some(ABORTED), Some(error)) => {
                let traceback = error.traceback.join("\n");
                add_line(lines, &Item::Error { name: &error.name, value: &error.value, traceback });
            }
            (Some(name), raised) => {
                let traceback = raised.map(|error| error.traceback.join("\n")).unwrap_or_default();
                add_line(lines, &Item::Error { name, value: text, traceback });
            }
            (None, None) => {}
        }
        add_line(lines, &Item::EndOfExecution);
        self.over = true;
    }
}

fn complain(text: &str, lines: &mut Vec<u8>) {
    add_line(lines, &Item::Stderr { text, timestamp: now() });
}

/// A form that is not of the kind that clients count on goes to the rest, where they only keep it.
fn result(mut data: MimeBundle, is_main_result: bool) -> Item<'static> {
    let mut forms = Map::new();
    for (mime, name) in TEXTS {
        if let Some(Value::String(text)) = data.get(mime) {
            let text = if name == "text" { without_quotes(text) } else { text };
            forms.insert(name.to_owned(), json!(text));
            data.remove(mime);
        }
    }
    if let Some(value) = data.remove("application/json").filter(|value| !value.is_null()) {
        forms.insert("json".to_owned(), value);
    }
    for (mime, name) in [("e2b/data", "data"), ("e2b/chart", "chart")] {
        let fits = |value: &Value| value.is_object() && (name == "data" || value["type"].is_string());
        if data.get(mime).is_some_and(fits)
            && let Some(value) = data.remove(mime)
        {
            forms.insert(name.to_owned(), value);
        }
    }
    Item::Result { forms, extra: data, is_main_result }
}

/// Text is shown as it is, not as Python writes it.
fn without_quotes(text: &str) -> &str {
    let inner = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    inner('\'').or_else(|| inner('"')).unwrap_or(text)
}

fn now() -> String {
    timestamp(OffsetDateTime::now_utc())
}

/// As Python writes it.
fn timestamp(at: OffsetDateTime) -> String {
    let (date, time) = (at.date(), at.time());
    let (year, month, day) = (date.year(), u8::from(date.month()), date.day());
    let (hour, minute, second, micro) = time.as_hms_micro();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micro:06}+00:00")
}

#[cfg(test)]
#[path = "items_tests.rs"]
mod tests;
