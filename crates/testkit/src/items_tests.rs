//! Tests of how the script's items become output items and pieces.

use serde_json::{Value, json};

use super::*;

fn said(turn: Value) -> Vec<Said> {
    let turn: Turn = serde_json::from_value(turn).unwrap();
    items_of(&turn, &Ids::new())
}

#[test]
fn pieces_of_a_code_call_make_up_its_arguments() {
    for chunk in [None, Some(1), Some(3), Some(1000)] {
        let code = "print(\"ä\\n😀\")\r\nx = '''\t'''\u{1}\n";
        let all = said(json!({"items": [{"code": code}], "chunk": chunk}));
        let arguments = all[0].pieces.concat();
        assert_eq!(arguments, all[0].item["arguments"].as_str().unwrap());
        let parsed: Value = serde_json::from_str(&arguments).unwrap();
        assert_eq!(parsed["code"], code);
    }
}

#[test]
fn without_a_chunk_size_code_is_cut_every_twelve_characters() {
    let all = said(json!({"items": [{"code": "import math\nmath.prod([2,3,5,7,11,13])\n"}]}));
    assert_eq!(all[0].pieces[1], "import math\\n");
    assert_eq!(all[0].pieces[2], "math.prod([2");
}

#[test]
fn every_kind_of_item_is_understood_and_unknown_keys_are_refused() {
    let all = said(json!({"items": [{"reasoning": true}, {"reasoning": "why", "encrypted_content": "gA=="},
        {"code": "1"}, {"arguments": "{\"code\": "}, {"call": {"name": "f", "arguments": "{}"}},
        {"custom_call": {"name": "c", "input": "i"}}, {"text": "t", "phase": "commentary"}, {"refusal": "no"},
        {"item": {"type": "web_search_call", "status": "completed"}}]}));
    let kinds: Vec<&str> = all.iter().map(|said| said.item["type"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        [
            "reasoning",
            "reasoning",
            "function_call",
            "function_call",
            "function_call",
            "custom_tool_call",
            "message",
            "message",
            "web_search_call"
        ]
    );
    assert!(serde_json::from_value::<Turn>(json!({"items": [{"text": "t", "fase": "x"}]})).is_err());
    assert!(serde_json::from_value::<Turn>(json!({"item": []})).is_err());
}

#[test]
fn the_last_item_of_an_incomplete_turn_is_incomplete() {
    let all = said(json!({"items": [{"text": "a"}, {"text": "b"}], "status": "incomplete"}));
    assert_eq!(all[0].item["status"], "completed");
    assert_eq!(all[1].item["status"], "incomplete");
}
