//! Events put together give the whole result, in order.

use super::*;

fn out(text: &str) -> Event {
    Event::Stdout { text: text.to_owned() }
}

fn err(text: &str) -> Event {
    Event::Stderr { text: text.to_owned() }
}

fn done(ending: Ending) -> Event {
    Event::Done { ending, text: String::new(), execution_count: 3, duration_ms: 1.5 }
}

fn build(events: impl IntoIterator<Item = Event>) -> Result<Outcome> {
    let mut builder = OutcomeBuilder::default();
    events.into_iter().for_each(|event| builder.add(event));
    builder.finish()
}

#[test]
fn streams_are_whole_and_outputs_keep_the_order() {
    let outcome = build([out("a"), out("b\n"), err("c"), out("d"), done(Ending::Ok)]).unwrap();
    assert_eq!(outcome.stdout, "ab\nd");
    assert_eq!(outcome.stderr, "c");
    assert_eq!(outcome.outputs, [out("ab\n"), err("c"), out("d")]);
    assert_eq!(outcome.execution_count, 3);
}

#[test]
fn a_displayed_value_and_the_last_value_are_told_apart() {
    let mut data = MimeBundle::new();
    data.insert("text/plain".to_owned(), "42".into());
    let shown = Event::Display { data: data.clone() };
    let last = Event::Result { data, execution_count: 3 };
    let outcome = build([shown, last, done(Ending::Ok)]).unwrap();
    let kinds: Vec<_> = outcome.results.iter().map(|result| result.last_value).collect();
    assert_eq!(kinds, [false, true]);
}

#[test]
fn files_and_the_end_are_fields_not_outputs() {
    let change = FileChange { path: "/mnt/data/a".to_owned(), kind: crate::FileChangeKind::Created, size: 1 };
    let outcome = build([Event::Files { changes: vec![change.clone()] }, done(Ending::Raised)]).unwrap();
    assert_eq!(outcome.files, [change]);
    assert!(outcome.outputs.is_empty());
    assert_eq!(outcome.ending, Ending::Raised);
}

#[test]
fn an_execution_that_breaks_off_is_an_engine_failure() {
    let error = build([out("a")]).unwrap_err();
    assert!(matches!(error, BackendError::Engine(_)), "{error}");
}
