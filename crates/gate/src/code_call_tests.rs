//! What is fed back for a call.

use serde_json::json;

use super::answer_to;

#[test]
fn an_answer_goes_to_whoever_called() {
    let program = json!({"type": "program", "caller_id": "call_p"});
    let call = json!({"type": "function_call", "call_id": "call_1", "name": "python", "arguments": "{}",
        "caller": program, "namespace": "tools"});
    let expected = json!({"type": "function_call_output", "call_id": "call_1", "output": "1",
        "caller": program, "namespace": "tools"});
    assert_eq!(answer_to(&call, "1"), expected);
    let call = json!({"type": "custom_tool_call", "call_id": "call_2", "caller": null, "namespace": "tools"});
    assert_eq!(
        answer_to(&call, "2"),
        json!({"type": "custom_tool_call_output", "call_id": "call_2", "output": "2"})
    );
}
