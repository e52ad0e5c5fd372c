//! No way of writing a request leads to a model that the key does not have.

use axum::response::IntoResponse;

use super::*;

fn status(body: &str) -> u16 {
    let limits = KeyLimits { models: Some(vec!["gpt-*".to_owned()]), ..KeyLimits::default() };
    match check_model(&limits, body.as_bytes()) {
        Ok(()) => 200,
        Err(error) => error.into_response().status().as_u16(),
    }
}

#[test]
fn only_models_of_the_key_are_let_through() {
    assert_eq!(status(r#"{"input": "x", "model": "gpt-5"}"#), 200);
    assert_eq!(status(r#"{"model": "other"}"#), 404);
    for body in [
        r#"{"model": "gpt-5", "model": "other"}"#,
        r#"{"model": "gpt-5", "Model": "other"}"#,
        r#"{"MODEL": "gpt-5"}"#,
        r#"{"\u006dodel": "gpt-5", "model": "other"}"#,
        r#"{"model": ["gpt-5"]}"#,
        r#"{"model": null}"#,
        r#"{"input": "gpt-5"}"#,
        r#"["gpt-5"]"#,
        "",
        r#"{"model": "gpt-5""#,
    ] {
        assert_eq!(status(body), 400, "{body}");
    }
}

#[test]
fn a_key_without_such_a_limit_names_what_it_likes_but_once() {
    let any = KeyLimits::default();
    assert!(check_model_alone(&any, b"anything").is_ok());
    assert!(check_model(&any, br#"{"input": "x"}"#).is_ok());
    assert!(check_model(&any, br#"{"model": "a", "model": "b"}"#).is_err());
    assert!(check_model(&any, b"anything").is_err());
}
