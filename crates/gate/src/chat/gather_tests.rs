//! Deltas put together, and a message as its model gets it back.

use serde_json::{Map, Value, json};

use super::{add, fed_back};

fn gathered(deltas: &[Value]) -> Map<String, Value> {
    let mut message = Map::new();
    deltas.iter().for_each(|delta| add(&mut message, delta.as_object().unwrap()));
    message
}

#[test]
fn texts_grow_lists_get_longer_and_nothing_is_taken_back() {
    let message = gathered(&[
        json!({"role": "assistant", "content": null, "refusal": null}),
        json!({"content": "a", "reasoning_content": "x", "annotations": [1]}),
        json!({"content": "b", "annotations": [2], "other": "p"}),
        json!({"content": null, "reasoning_content": "y", "other": "q"}),
    ]);
    let expected = json!({"role": "assistant", "content": "ab", "refusal": null, "reasoning_content": "xy",
        "annotations": [1, 2], "other": "q"});
    assert_eq!(Value::Object(message), expected);
}

#[test]
fn the_model_gets_back_what_it_said_and_thought() {
    let message = gathered(&[json!({"role": "assistant", "content": "", "refusal": null, "annotations": [],
        "reasoning_content": "hm", "reasoning_details": [{"data": "s"}]})]);
    let expected = json!({"role": "assistant", "content": "", "reasoning_content": "hm",
        "reasoning_details": [{"data": "s"}], "tool_calls": [1]});
    let mut fed = fed_back(message, vec![json!(1)]);
    assert!(fed["content"].is_null());
    fed["content"] = json!("");
    assert_eq!(fed, expected);
}
