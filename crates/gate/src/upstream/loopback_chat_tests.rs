//! The stand-in in chat form: it calls for the code it is shown, then says what came of it.

use serde_json::{Value, json};

use super::chunks;
use crate::upstream::test_schemas::check;

fn answer(body: Value) -> Vec<Value> {
    let Value::Object(body) = body else { panic!("{body}") };
    let chunks = chunks(&body);
    for chunk in &chunks {
        let mut chunk = chunk.clone();
        // The schema says that these may be null in a way that its checker does not know.
        for choice in chunk["choices"].as_array_mut().unwrap() {
            choice.as_object_mut().unwrap().retain(|name, value| name != "logprobs" || !value.is_null());
            if choice["finish_reason"].is_null() {
                choice["finish_reason"] = json!("stop");
            }
        }
        check("CreateChatCompletionStreamResponse", &chunk);
    }
    chunks
}

fn all(chunks: &[Value], pointer: &str) -> String {
    chunks.iter().filter_map(|chunk| chunk.pointer(pointer)?.as_str()).collect()
}

const TEXT: &str = "/choices/0/delta/content";
const ARGUMENTS: &str = "/choices/0/delta/tool_calls/0/function/arguments";

#[test]
fn it_runs_one_block_after_the_other_and_tells_what_came_of_them() {
    let parameters = json!({"type": "object", "properties": {"code": {"type": "string"}}});
    let tools = json!([{"type": "function", "function": {"name": "python", "parameters": parameters}}]);
    let user = json!({"role": "user", "content": [{"type": "text", "text": "```python\n1+1\n```\nand\n```\nprint(2)\n```"}]});
    let mut messages = vec![user];
    for (number, code) in ["1+1\n", "print(2)\n"].into_iter().enumerate() {
        let chunks = answer(json!({"model": "m", "messages": messages, "tools": tools}));
        assert_eq!(all(&chunks, ARGUMENTS), json!({"code": code}).to_string());
        assert_eq!(all(&chunks, "/choices/0/finish_reason"), "tool_calls");
        let id = chunks.iter().find_map(|chunk| chunk.pointer("/choices/0/delta/tool_calls/0/id")).unwrap();
        let call = json!({"id": id, "type": "function", "function": {"name": "python", "arguments": "{}"}});
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": format!("out {number}")}));
    }
    let chunks = answer(json!({"model": "m", "messages": messages, "tools": tools}));
    assert_eq!(all(&chunks, TEXT), "out 0\n\nout 1");
    assert_eq!(all(&chunks, "/choices/0/finish_reason"), "stop");
    assert!(chunks.last().unwrap()["usage"]["prompt_tokens"].as_u64().unwrap() > 0);
}

#[test]
fn without_code_or_tool_it_says_what_it_is() {
    let says =
        |content: &str| all(&answer(json!({"messages": [{"role": "user", "content": content}]})), TEXT);
    assert!(says("hello").contains("stand-in"));
    assert!(says("```\n1\n```").contains("no tool"));
}
