//! Who sees the outputs of code.

use serde_json::json;

use super::*;

fn shown(item: Value, include: &[&str]) -> Value {
    let include: Vec<String> = include.iter().map(|name| (*name).to_owned()).collect();
    visible(item, &include)
}

#[test]
fn outputs_are_for_those_who_asked() {
    let call = json!({"type": "code_interpreter_call", "outputs": [{"type": "logs", "logs": "1"}]});
    assert_eq!(shown(call.clone(), &[])["outputs"], Value::Null);
    assert_eq!(shown(call.clone(), &["reasoning.encrypted_content"])["outputs"], Value::Null);
    assert_eq!(shown(call.clone(), &["code_interpreter_call.outputs"]), call);
}

#[test]
fn the_key_is_there_even_if_there_was_none() {
    let call = json!({"type": "code_interpreter_call"});
    assert_eq!(shown(call.clone(), &["code_interpreter_call.outputs"])["outputs"], json!([]));
    assert_eq!(shown(call, &[]).get("outputs"), Some(&Value::Null));
}

#[test]
fn other_items_are_left_as_they_are() {
    for item in [json!({"type": "message", "outputs": 1}), json!("text"), json!(null)] {
        assert_eq!(shown(item.clone(), &[]), item);
    }
}

#[test]
fn encrypted_thoughts_are_for_those_who_asked() {
    let thought = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"});
    assert_eq!(
        shown(thought.clone(), &["code_interpreter_call.outputs"]),
        json!({"type": "reasoning", "id": "rs_1", "summary": []})
    );
    assert_eq!(shown(thought.clone(), &["reasoning.encrypted_content"]), thought);
}
