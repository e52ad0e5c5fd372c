//! Short items made whole.

use serde_json::json;

use super::with_defaults;

#[test]
fn a_short_message_gets_its_fields() {
    assert_eq!(
        with_defaults(json!({"role": "user", "content": "hi"})),
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}],
            "status": "completed"})
    );
    let answer =
        with_defaults(json!({"type": "message", "role": "assistant", "content": "yes", "status": "x"}));
    assert_eq!(answer["content"][0]["type"], "output_text");
    assert_eq!(answer["status"], "x");
}

#[test]
fn other_items_get_the_fields_that_lists_have() {
    let output = json!({"type": "function_call_output", "call_id": "c", "output": "1"});
    assert_eq!(with_defaults(output)["status"], "completed");
    let unknown = json!({"type": "from_the_future", "x": 1});
    assert_eq!(with_defaults(unknown.clone()), unknown);
}
