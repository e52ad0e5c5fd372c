//! What of its thoughts a model is given back.

use serde_json::{Value, json};

use super::{asks_for_thoughts, readable};

fn thought(id: &str) -> Value {
    json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": "x"})
}

fn call(id: &str) -> Value {
    json!({"type": "function_call", "id": id, "call_id": id, "name": "python", "arguments": "{}"})
}

fn output(id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": "1"})
}

fn user() -> Value {
    json!({"role": "user", "content": "go"})
}

#[test]
fn thoughts_that_can_be_read_stay() {
    let open = json!({"type": "reasoning", "id": "rs_2", "summary": [],
        "content": [{"type": "reasoning_text", "text": "because"}]});
    let items = [user(), thought("rs_1"), thought("rs_1b"), call("fc_1"), output("fc_1"), open, call("fc_2")];
    assert_eq!(readable(&items), items);
}

#[test]
fn a_thought_that_cannot_be_read_goes_with_the_id_of_what_came_of_it() {
    for empty in [
        json!({"type": "reasoning", "id": "rs_1", "summary": []}),
        json!({"type": "reasoning", "id": "rs_1", "summary": [], "content": [], "encrypted_content": null}),
    ] {
        let fed = readable(&[user(), empty.clone(), call("fc_1"), output("fc_1"), call("fc_2")]);
        assert_eq!(fed.len(), 4);
        assert!(fed[1].get("id").is_none() && fed[1]["call_id"] == "fc_1");
        assert_eq!(fed[3]["id"], "fc_2");
        let message = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "phase": "commentary",
            "content": [{"type": "output_text", "text": "hi", "annotations": [], "logprobs": []}]});
        let fed = readable(&[empty, message]);
        let plain = json!({"type": "message", "role": "assistant", "content": "hi", "phase": "commentary"});
        assert_eq!(fed, [plain]);
    }
}

#[test]
fn a_thought_that_led_to_nothing_goes() {
    let developer = json!({"type": "message", "role": "developer", "content": "x"});
    for after in [user(), developer, output("fc_0"), json!({"type": "mcp_approval_response"})] {
        let items = [user(), thought("rs_1"), after.clone(), call("fc_1")];
        assert_eq!(readable(&items), [user(), after, call("fc_1")]);
    }
    assert_eq!(readable(&[user(), thought("rs_1")]), [user()]);
    let said = json!({"type": "message", "role": "assistant", "content": "hi"});
    for after in [said, json!({"type": "item_reference", "id": "x"}), json!({"type": "web_search_call"})] {
        assert_eq!(readable(&[thought("rs_1"), after]).len(), 2);
    }
}

#[test]
fn models_that_think_are_asked_for_their_thoughts() {
    for (body, expected) in [
        (json!({"model": "gpt-5"}), true),
        (json!({"model": "openai/GPT-5.1-codex-max"}), true),
        (json!({"model": "gpt-5-mini-2025-08-07"}), true),
        (json!({"model": "o3"}), true),
        (json!({"model": "o4-mini"}), true),
        (json!({"model": "codex-mini-latest"}), true),
        (json!({"model": "gpt-5-chat-latest"}), false),
        (json!({"model": "gpt-4.1"}), false),
        (json!({"model": "o3000"}), false),
        (json!({"model": "olmo"}), false),
        (json!({"model": "mine", "reasoning": {"effort": "low"}}), true),
        (json!({"model": "mine", "reasoning": {"effort": null, "summary": null}}), false),
        (json!({"model": "mine", "reasoning": null}), false),
        (json!({}), false),
    ] {
        assert_eq!(asks_for_thoughts(body.as_object().unwrap()), expected, "{body}");
    }
}
