//! What passes by unread.

use super::{may_concern_us, may_name_code};

#[test]
fn a_plain_request_passes() {
    assert!(!may_concern_us(
        br#"{"model":"m","input":"caf\u00e9 \u4e2d","tools":[{"type":"function","name":"f"}]}"#
    ));
}

#[test]
fn whatever_names_ours_does_not() {
    for body in [
        &br#"{"tools":[{"type":"code_interpreter","container":"c"}]}"#[..],
        br#"{"tools":[{"type":"code\u005finterpreter"}]}"#,
        br#"{"previous_response_id":"resp_1"}"#,
        br#"{"conversation":"conv_1"}"#,
        br#"{"input":[{"type":"item_reference","id":"ci_1"}]}"#,
        br#"{"input":[{"content":[{"type":"input_file","file_id":"file-1"}]}]}"#,
    ] {
        assert!(may_concern_us(body), "{}", String::from_utf8_lossy(body));
    }
}

#[test]
fn in_chat_completions_only_the_tool_is_ours() {
    assert!(may_name_code(br#"{"tools":[{"type":"code_interpreter"}]}"#));
    assert!(may_name_code(br#"{"tools":[{"type":"\u0063ode_interpreter"}]}"#));
    assert!(!may_name_code(br#"{"messages":[{"content":"previous_response_id","x":{"file_id":"f"}}]}"#));
}
