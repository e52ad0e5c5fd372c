//! What each event becomes.

use sandgate_core::{CodeError, Ending, Event, LimitKind, MimeBundle, Note};
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::{Items, Said, timestamp, without_quotes};

/// The lines of a whole run, without the times.
fn lines(events: Vec<Option<Event>>) -> Vec<Value> {
    let (mut items, mut lines) = (Items::default(), Vec::new());
    for event in events {
        assert!(!items.is_over(), "something came after the end");
        items.add(event, &mut lines);
    }
    assert!(items.is_over());
    let text = String::from_utf8(lines).unwrap();
    let read = |line: &str| serde_json::from_str::<Value>(line).unwrap();
    let mut values: Vec<Value> = text.lines().map(read).collect();
    for value in &mut values {
        let time = value.as_object_mut().unwrap().remove("timestamp");
        let has_time = value["type"] == "stdout" || value["type"] == "stderr";
        assert_eq!(time.is_some(), has_time, "{value}");
    }
    values
}

fn done(ending: Ending, text: &str) -> Option<Event> {
    Some(Event::Done { ending, text: text.to_owned(), execution_count: 3, duration_ms: 1.0 })
}

fn raised(name: &str) -> Option<Event> {
    let traceback = vec!["one".to_owned(), "two".to_owned()];
    Some(Event::Error(CodeError { name: name.to_owned(), value: "v".to_owned(), traceback }))
}

fn bundle(value: Value) -> MimeBundle {
    let Value::Object(bundle) = value else { panic!("{value}") };
    bundle
}

#[test]
fn a_run_that_ends_well_has_its_number_first_and_its_end_last() {
    let told = lines(vec![
        Some(Event::Started { execution_count: 3 }),
        Some(Event::Stdout { text: "é\n".to_owned() }),
        Some(Event::Stderr { text: "e".to_owned() }),
        Some(Event::Result { data: bundle(json!({"text/plain": "'x'"})), execution_count: 3 }),
        Some(Event::Files { changes: Vec::new() }),
        done(Ending::Ok, ""),
    ]);
    assert_eq!(
        told,
        [
            json!({"type": "number_of_executions", "execution_count": 3}),
            json!({"type": "stdout", "text": "é\n"}),
            json!({"type": "stderr", "text": "e"}),
            json!({"type": "result", "text": "x", "extra": {}, "is_main_result": true}),
            json!({"type": "end_of_execution"}),
        ]
    );
}

#[test]
fn every_form_has_its_name() {
    let data = bundle(json!({
        "text/plain": "t", "text/html": "h", "text/markdown": "m", "image/svg+xml": "s", "image/png": "p",
        "image/jpeg": "j", "application/pdf": "d", "text/latex": "l", "application/json": [1],
        "application/javascript": "a", "e2b/data": {"a": [1]}, "e2b/chart": {"type": "line"}, "text/x": "y",
    }));
    let told = lines(vec![Some(Event::Display { data }), done(Ending::Ok, "")]);
    let expected = json!({
        "type": "result", "text": "t", "html": "h", "markdown": "m", "svg": "s", "png": "p", "jpeg": "j",
        "pdf": "d", "latex": "l", "json": [1], "javascript": "a", "data": {"a": [1]}, "chart": {"type": "line"},
        "extra": {"text/x": "y"}, "is_main_result": false,
    });
    assert_eq!(told[0], expected);
}

#[test]
fn forms_that_would_trip_a_client_are_only_kept() {
    let odd = json!({"text/plain": 5, "image/png": ["x"], "e2b/data": [1], "e2b/chart": {"no": "type"}});
    let told = lines(vec![Some(Event::Display { data: bundle(odd.clone()) }), done(Ending::Ok, "")]);
    assert_eq!(told[0], json!({"type": "result", "extra": odd, "is_main_result": false}));
}

#[test]
fn code_that_raised_says_so_once() {
    let told = lines(vec![raised("ValueError"), done(Ending::Raised, "the code raised")]);
    let error = json!({"type": "error", "name": "ValueError", "value": "v", "traceback": "one\ntwo"});
    assert_eq!(told[1..], [error, json!({"type": "end_of_execution"})]);
    assert_eq!(told[0]["type"], "number_of_executions", "known at the end only");
}

#[test]
fn what_ended_the_code_from_outside_is_an_error_with_a_name() {
    let limit = |limit| Ending::LimitHit { limit };
    for (ending, name) in [
        (Ending::TimedOut, "TimeoutError"),
        (Ending::Interrupted, "ExecutionAborted"),
        (limit(LimitKind::Memory), "MemoryLimitExceeded"),
        (limit(LimitKind::Output), "OutputLimitExceeded"),
        (limit(LimitKind::Disk), "DiskLimitExceeded"),
        (Ending::Signalled { signal: 11 }, "UnexpectedEndOfExecution"),
        (Ending::Exited { code: 0 }, "UnexpectedEndOfExecution"),
    ] {
        let told = lines(vec![done(ending, "why")]);
        assert_eq!(told[1], json!({"type": "error", "name": name, "value": "why", "traceback": ""}));
    }
    let told = lines(vec![raised("KeyboardInterrupt"), done(Ending::TimedOut, "why")]);
    let error = json!({"type": "error", "name": "TimeoutError", "value": "why", "traceback": "one\ntwo"});
    assert_eq!(told[1..told.len() - 1], [error], "one error, and it says why");
    let told = lines(vec![raised("ContextRestarting"), done(Ending::Interrupted, "why")]);
    assert_eq!(told[1]["name"], "ContextRestarting");
}

#[test]
fn a_run_that_broke_off_says_so() {
    let told = lines(vec![Some(Event::Stdout { text: "x".to_owned() }), None]);
    assert_eq!(told[1]["name"], "UnexpectedEndOfExecution");
    assert_eq!(told[2], json!({"type": "end_of_execution"}));
}

#[test]
fn notes_come_as_errors_are_printed() {
    let text = "the interpreter is new".to_owned();
    let told = lines(vec![Some(Event::Note { note: Note::FreshKernel, text }), done(Ending::Ok, "")]);
    assert_eq!(told[0], json!({"type": "stderr", "text": "[the interpreter is new]\n"}));
}

#[test]
fn quotes_around_text_go_when_they_match() {
    for (given, expected) in [
        ("'a'", "a"),
        ("\"it's\"", "it's"),
        ("'", "'"),
        ("''", ""),
        ("'a", "'a"),
        ("'a\"", "'a\""),
        ("é", "é"),
    ] {
        assert_eq!(without_quotes(given), expected, "{given}");
    }
}

#[test]
fn times_are_as_python_writes_them() {
    let at = OffsetDateTime::from_unix_timestamp_nanos(1_794_767_110_000_042_999).unwrap();
    assert_eq!(timestamp(at), "2026-11-15T18:25:10.000042+00:00");
}
