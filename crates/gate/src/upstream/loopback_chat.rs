//! The stand-in for a model in the form of Chat Completions: it says the same.

use sandgate_core::{now_seconds, random_alphanumeric};
use serde_json::{Value, json};

use super::compose::{Object, new_call_id};
use super::loopback::{Asked, Says, code_tool, pieces, says, text_of, words};

pub(super) fn chunks(request: &Object) -> Vec<Value> {
    let asked = asked(request.get("messages"));
    let said = says(&asked, code_tool(request));
    let mut chunks = Chunks::new(request);
    let reason = match &said {
        Says::Call { tool, arguments } => {
            let call = json!({"index": 0, "id": new_call_id(), "type": "function",
                "function": {"name": tool, "arguments": ""}});
            chunks.push(json!({"tool_calls": [call]}), None);
            for piece in pieces(arguments) {
                let more = json!({"index": 0, "function": {"arguments": piece}});
                chunks.push(json!({"tool_calls": [more]}), None);
            }
            "tool_calls"
        }
        Says::Text(text) => {
            pieces(text).for_each(|piece| chunks.push(json!({"content": piece}), None));
            "stop"
        }
    };
    chunks.push(json!({}), Some(reason));
    chunks.usage(asked.words, said.words());
    chunks.list
}

struct Chunks {
    envelope: Value,
    list: Vec<Value>,
}

impl Chunks {
    fn new(request: &Object) -> Self {
        let envelope = json!({
            "id": format!("chatcmpl-{}", random_alphanumeric(29)),
            "object": "chat.completion.chunk",
            "created": now_seconds(),
            "model": request.get("model").and_then(Value::as_str).unwrap_or_default(),
        });
        let mut chunks = Self { envelope, list: Vec::new() };
        chunks.push(json!({"role": "assistant", "content": "", "refusal": null}), None);
        chunks
    }

    fn push(&mut self, delta: Value, finish: Option<&str>) {
        let mut chunk = self.envelope.clone();
        chunk["choices"] = json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]);
        self.list.push(chunk);
    }

    fn usage(&mut self, input: u64, output: u64) {
        let mut chunk = self.envelope.clone();
        chunk["choices"] = json!([]);
        chunk["usage"] =
            json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output});
        self.list.push(chunk);
    }
}

fn asked(messages: Option<&Value>) -> Asked {
    let mut asked = Asked::default();
    for message in messages.and_then(Value::as_array).into_iter().flatten() {
        let text = text_of(&message["content"]);
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        let called: u64 =
            calls.map(|call| words(call["function"]["arguments"].as_str().unwrap_or_default())).sum();
        asked.words += words(&text) + called;
        match message["role"].as_str() {
            Some("tool") => asked.outputs.push(text),
            Some("user") => {
                asked.text = text;
                asked.outputs.clear();
            }
            _ => {}
        }
    }
    asked
}

#[cfg(test)]
#[path = "loopback_chat_tests.rs"]
mod tests;
