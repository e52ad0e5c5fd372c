//! What a page is told of an execution.

use sandgate_core::{CodeError, Ending};

use super::*;
use crate::documents::Documents;

#[test]
fn a_traceback_has_no_colours() {
    let error = CodeError {
        name: "ValueError".into(),
        value: "no".into(),
        traceback: vec!["\u{1b}[31mred\u{1b}[0m".into(), "\u{1b}".into(), "plain".into()],
    };
    let told = told(Event::Error(error), &Documents::default().of_run()).unwrap();
    assert_eq!(told["traceback"], "red\n\nplain");
}

#[test]
fn the_end_says_how_it_went() {
    let done = Event::Done {
        ending: Ending::Interrupted,
        text: String::new(),
        execution_count: 3,
        duration_ms: 1.25,
    };
    let told = told(done, &Documents::default().of_run()).unwrap();
    assert_eq!(told["ending"]["kind"], "interrupted");
    assert_eq!(told["count"], 3);
}
