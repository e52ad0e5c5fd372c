//! Reading what an execution said.

use sandgate_core::{Ending, Event, Execution, MimeBundle, Note, Outcome};
use tokio::time::timeout;

use super::LONGEST;

pub(crate) trait Read {
    fn assert_ok(&self);
    /// The last expression's value as text.
    fn value(&self) -> String;
    /// The one rich value that was shown.
    fn shown(&self) -> &MimeBundle;
    /// The name of the exception.
    fn raised(&self) -> &str;
    fn has_note(&self, note: Note) -> bool;
    /// The text of a note that must be there.
    fn note(&self, note: Note) -> &str;
}

impl Read for Outcome {
    #[track_caller]
    fn assert_ok(&self) {
        assert_eq!(self.ending, Ending::Ok, "{self:#?}");
    }

    #[track_caller]
    fn value(&self) -> String {
        let last = self.results.iter().find(|result| result.last_value);
        let text = last.and_then(|result| result.data.get("text/plain")?.as_str());
        text.unwrap_or_else(|| panic!("there is no value: {self:#?}")).to_owned()
    }

    #[track_caller]
    fn shown(&self) -> &MimeBundle {
        self.assert_ok();
        assert_eq!(self.results.len(), 1, "{self:#?}");
        &self.results[0].data
    }

    #[track_caller]
    fn raised(&self) -> &str {
        assert_eq!(self.ending, Ending::Raised, "{self:#?}");
        &self.error.as_ref().expect("an error").name
    }

    fn has_note(&self, note: Note) -> bool {
        self.notes.iter().any(|one| one.note == note)
    }

    #[track_caller]
    fn note(&self, note: Note) -> &str {
        let found = self.notes.iter().find(|one| one.note == note);
        &found.unwrap_or_else(|| panic!("there is no note {note:?}: {self:#?}")).text
    }
}

/// Waits until the code prints; what came before it is dropped.
pub(crate) async fn next_stdout(execution: &mut Execution) -> String {
    loop {
        if let Event::Stdout { text } = next_event(execution).await {
            return text;
        }
    }
}

/// Waits until the code says `wanted` on its standard error; what came before it is dropped.
pub(crate) async fn until_stderr(execution: &mut Execution, wanted: &str) {
    let mut said = String::new();
    while !said.contains(wanted) {
        if let Event::Stderr { text } = next_event(execution).await {
            said.push_str(&text);
        }
    }
}

async fn next_event(execution: &mut Execution) -> Event {
    match timeout(LONGEST, execution.events.recv()).await.expect("the code says something") {
        Some(Event::Done { ending, text, .. }) => panic!("the code ended before: {ending:?} {text}"),
        Some(event) => event,
        None => panic!("the execution broke off"),
    }
}
