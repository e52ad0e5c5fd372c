//! Outputs in kernel order.

use sandgate_core::{CodeError, Ending, Event, MimeBundle, Outcome, OutcomeBuilder};
use serde_json::{Value, json};

use super::outputs;

pub(crate) fn outcome(events: Vec<Event>) -> Outcome {
    let mut builder = OutcomeBuilder::default();
    for event in events {
        builder.add(event);
    }
    builder.add(Event::Done {
        ending: Ending::Ok,
        text: String::new(),
        execution_count: 1,
        duration_ms: 1.0,
    });
    builder.finish().unwrap()
}

pub(crate) fn bundle(value: Value) -> MimeBundle {
    value.as_object().unwrap().clone()
}

#[test]
fn one_entry_for_each_message_in_order() {
    let png = "iVBORw0K";
    let out = outputs(&outcome(vec![
        Event::Stdout { text: "a\n".into() },
        Event::Stdout { text: "b\n".into() },
        Event::Stderr { text: "w\n".into() },
        Event::Display { data: bundle(json!({"image/png": format!("{png}\n"), "text/plain": "<Figure>"})) },
        Event::Result {
            data: bundle(json!({"text/plain": "42", "text/html": "<b>42</b>"})),
            execution_count: 1,
        },
    ]));
    assert_eq!(
        out.shown,
        vec![
            json!({"type": "logs", "logs": "a\nb\n"}),
            json!({"type": "logs", "logs": "w\n"}),
            json!({"type": "image", "url": "data:image/png;base64,iVBORw0K"}),
            json!({"type": "logs", "logs": "42"}),
        ]
    );
    assert_eq!(out.figures.len(), 1);
}

#[test]
fn an_exception_is_for_the_model_only() {
    let error = CodeError { name: "NameError".into(), value: "x".into(), traceback: vec!["t".into()] };
    let out = outputs(&outcome(vec![Event::Stdout { text: "before\n".into() }, Event::Error(error)]));
    assert_eq!(out.shown, vec![json!({"type": "logs", "logs": "before\n"})]);
}

#[test]
fn what_is_not_base64_is_no_image() {
    let data = bundle(json!({"image/png": "\"><script>", "text/plain": "fig"}));
    assert_eq!(
        outputs(&outcome(vec![Event::Display { data }])).shown,
        vec![json!({"type": "logs", "logs": "fig"})]
    );
}
