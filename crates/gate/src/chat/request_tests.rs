//! What a request with the tool may say, and the words for what it may not.

use serde_json::{Value, json};

use super::ChatRequest;
use crate::container_param::{AutoContainer, ContainerChoice};
use crate::error::GateError;

fn parse(mut body: Value) -> Result<ChatRequest, GateError> {
    body.as_object_mut().unwrap().entry("messages").or_insert_with(|| json!([]));
    let Value::Object(body) = body else { panic!("an object") };
    ChatRequest::parse(body)
}

#[track_caller]
fn refusal(body: Value) -> (Option<String>, Option<&'static str>) {
    match parse(body).unwrap_err() {
        GateError::Invalid { param, code, .. } => (param, code),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_container_may_be_left_out() {
    for tool in [json!({"type": "code_interpreter"}), json!({"type": "code_interpreter", "container": null})]
    {
        let request = parse(json!({"tools": [{"type": "function"}, tool]})).unwrap();
        let tool = request.code_tool.unwrap();
        assert_eq!((tool.index, tool.container), (1, ContainerChoice::Auto(AutoContainer::default())));
    }
    let named = json!([{"type": "code_interpreter", "container": "cntr_a"}]);
    let tool = parse(json!({"tools": named})).unwrap().code_tool.unwrap();
    assert_eq!(tool.container, ContainerChoice::Named("cntr_a".to_owned()));
    assert!(parse(json!({})).unwrap().code_tool.is_none());
}

#[test]
fn limits_and_options_are_read() {
    let request =
        parse(json!({"stream": true, "stream_options": {"include_usage": true}, "max_tokens": 5})).unwrap();
    assert!(request.stream && request.include_usage);
    assert_eq!(request.max_tokens, Some(("max_tokens", 5)));
    let both = parse(json!({"max_tokens": 5, "max_completion_tokens": 7})).unwrap();
    assert_eq!(both.max_tokens, Some(("max_completion_tokens", 7)));
}

#[test]
fn what_cannot_be_honoured_is_refused() {
    let tools = json!([{"type": "code_interpreter"}]);
    let named = |name: &str| Some(name.to_owned());
    assert_eq!(refusal(json!({"tools": tools, "n": 2})), (named("n"), Some("invalid_value")));
    assert!(
        parse(json!({"tools": tools, "n": 1})).is_ok() && parse(json!({"tools": tools, "n": null})).is_ok()
    );
    assert_eq!(refusal(json!({"tools": tools, "n": "2"})).0, named("n"));
    assert_eq!(refusal(json!({"tools": {}})).0, named("tools"));
    assert_eq!(refusal(json!({"messages": "hi"})).0, named("messages"));
    assert_eq!(refusal(json!({"messages": null})), (named("messages"), Some("missing_required_parameter")));
    assert_eq!(refusal(json!({"tools": tools, "stream": 1})).0, named("stream"));
    let twice = json!([{"type": "code_interpreter"}, {"type": "code_interpreter"}]);
    assert_eq!(refusal(json!({"tools": twice})).0, named("tools[1]"));
    let odd = |tool: Value| refusal(json!({"tools": [tool]})).0.unwrap();
    assert_eq!(odd(json!({"type": "code_interpreter", "containr": {}})), "tools[0].containr");
    assert_eq!(odd(json!({"type": "code_interpreter", "container": 1})), "tools[0].container");
    assert_eq!(
        odd(json!({"type": "code_interpreter", "container": {"type": "x"}})),
        "tools[0].container.type"
    );
}
