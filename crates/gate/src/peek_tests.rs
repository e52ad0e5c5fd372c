//! What passes by unread.

use super::{chat_may_concern_us, may_concern_us};

#[test]
fn a_plain_request_passes() {
    assert!(!may_concern_us(
        br#"{"model":"m","input":"caf\u00e9 \u4e2d","tools":[{"type":"function","name":"f"}]}"#
    ));
}

#[test]
fn ids_among_other_fields_pass() {
    for body in [
        &br#"{"input":[{"id":"msg_1","role":"assistant","content":"hi"}]}"#[..],
        br#"{"input":[{"role":"assistant","content":"hi","id":"msg_1"}]}"#,
        br#"{"prompt":{"id":"pmpt_1"}}"#,
        br#"{"id"}"#,
        br#"{"id":5}"#,
        br#"{"id":"#,
        br#"{"id":"x"#,
        br#""id""#,
    ] {
        assert!(!may_concern_us(body), "{}", String::from_utf8_lossy(body));
    }
}

#[test]
fn whatever_names_ours_does_not() {
    for body in [
        &br#"{"tools":[{"type":"code_interpreter","container":"c"}]}"#[..],
        br#"{"tools":[{"type":"code\u005finterpreter"}]}"#,
        br#"{"previous_response_id":"resp_1"}"#,
        br#"{"conversation":"conv_1"}"#,
        br#"{"input":[{"type":"item_reference","id":"ci_1"}]}"#,
        br#"{"input":[{"id":"ci_1"}]}"#,
        br#"{"input":[ { "id" : "ci_1" } , {"role":"user","content":"more"}]}"#,
        br#"{"input":[{"content":[{"type":"input_file","file_id":"file-1"}]}]}"#,
    ] {
        assert!(may_concern_us(body), "{}", String::from_utf8_lossy(body));
    }
}

#[test]
fn in_chat_completions_only_the_tool_and_files_are_ours() {
    assert!(chat_may_concern_us(br#"{"tools":[{"type":"code_interpreter"}]}"#));
    assert!(chat_may_concern_us(br#"{"tools":[{"type":"\u0063ode_interpreter"}]}"#));
    assert!(chat_may_concern_us(br#"{"messages":[{"content":[{"type":"file","file":{"file_id":"f"}}]}]}"#));
    assert!(!chat_may_concern_us(br#"{"messages":[{"content":"previous_response_id, file_id"}]}"#));
}
