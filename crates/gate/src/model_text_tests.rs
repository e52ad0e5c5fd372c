//! The model's view of executions.

use sandgate_core::{CodeError, Event, FileChange, FileChangeKind, Note};
use serde_json::json;

use super::{model_text, shortened};
use crate::outputs::tests::{bundle, outcome};

#[test]
fn everything_said_in_order() {
    let error = CodeError {
        name: "NameError".into(),
        value: "x".into(),
        traceback: vec!["\u{1b}[0;31mNameError\u{1b}[0m: name 'x' is not defined".into()],
    };
    let files = vec![
        FileChange { path: "/mnt/data/a.csv".into(), kind: FileChangeKind::Created, size: 30 },
        FileChange { path: "/home/user/.cache/x".into(), kind: FileChangeKind::Created, size: 30 },
    ];
    let text = model_text(
        &outcome(vec![
            Event::Note { note: Note::FreshKernel, text: "variables are gone".into() },
            Event::Stdout { text: "one".into() },
            Event::Display { data: bundle(json!({"image/png": "aGk=", "text/plain": "<Figure>"})) },
            Event::Result { data: bundle(json!({"text/plain": "42"})), execution_count: 1 },
            Event::Error(error),
            Event::Files { changes: files },
        ]),
        1000,
    );
    assert_eq!(
        text,
        "one\n[a figure was shown to the user]\n42\nNameError: name 'x' is not defined\n[variables are gone]\n\
         [files: /mnt/data/a.csv (new, 30 bytes)]"
    );
}

#[test]
fn silence_is_said() {
    assert_eq!(model_text(&outcome(vec![]), 100), "[no output]");
}

#[test]
fn long_output_keeps_head_and_tail() {
    let long = format!("start{}end", "é".repeat(10_000));
    let short = shortened(&long, 300);
    assert!(short.len() < 400);
    assert!(short.starts_with("start") && short.ends_with("end"));
    assert!(short.contains("19.2 KiB of output left out"), "{short}");
}
