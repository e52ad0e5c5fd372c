//! What a body means.

use serde_json::{Value, from_value, json};

use super::super::Refusal;
use super::{ContextBody, ExecuteBody, from_home, language_name};

fn execute(body: Value) -> Result<sandgate_core::ExecuteRequest, Refusal> {
    from_value::<ExecuteBody>(body).unwrap().into_request()
}

#[test]
fn absent_and_null_are_the_same() {
    let nulls = json!({"code": "1", "context_id": null, "language": null, "env_vars": null});
    for body in [json!({"code": "1"}), nulls, json!({"code": "1", "language": "", "more": 1})] {
        let request = execute(body).unwrap();
        assert_eq!((request.code.as_str(), request.context, request.language), ("1", None, None));
        assert!(request.env.is_empty() && request.with_chart_data);
    }
}

#[test]
fn everything_is_passed_on() {
    let body = json!({"code": "x", "context_id": "ctx_1", "env_vars": {"B": "2", "A": "1"}});
    let request = execute(body).unwrap();
    assert_eq!(request.context.unwrap().as_str(), "ctx_1");
    assert_eq!(request.env, [("A".to_owned(), "1".to_owned()), ("B".to_owned(), "2".to_owned())]);
}

#[test]
fn a_context_and_a_language_are_one_too_many() {
    let both = json!({"code": "x", "context_id": "ctx_1", "language": "python"});
    assert!(matches!(execute(both), Err(Refusal::ContextAndLanguage)));
    let odd = json!({"code": "x", "context_id": "../etc"});
    assert!(matches!(execute(odd), Err(Refusal::NoSuchContext(id)) if id == "../etc"));
}

#[test]
fn languages_have_their_full_names() {
    for (given, expected) in [("js", "javascript"), (" TS ", "typescript"), ("Python", "python"), ("r", "r")]
    {
        assert_eq!(language_name(given), expected);
    }
}

#[test]
fn folders_start_at_home() {
    for (given, expected) in [
        ("/tmp", "/tmp"),
        ("~", "/home/user"),
        ("~/a", "/home/user/a"),
        ("a/b", "/home/user/a/b"),
        ("~x", "/home/user/~x"),
    ] {
        assert_eq!(from_home(given), expected);
    }
    let spec = from_value::<ContextBody>(json!({})).unwrap().into_spec();
    assert_eq!((spec.language, spec.cwd), (None, None));
}
