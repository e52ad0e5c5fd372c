//! A turn as the chunks of a Chat Completions stream.

use serde_json::{Map, Value, json};

use crate::chat::{ChatPart, envelope, finish_reason, usage};
use crate::events::obfuscation_length;
use crate::ids::letters;
use crate::response::failure;
use crate::script::{Status, Turn};

/// All chunks in order. The closing `[DONE]` is not one of them.
pub(crate) fn chunks(
    request: &Map<String, Value>,
    turn: &Turn,
    parts: &[(ChatPart, Vec<String>)],
) -> Vec<Value> {
    let option = |name: &str| request.get("stream_options").and_then(|options| options.get(name)?.as_bool());
    let mut chunks = Chunks {
        envelope: envelope("chat.completion.chunk", request),
        usage: option("include_usage").unwrap_or(false),
        obfuscate: option("include_obfuscation").unwrap_or(true),
        list: Vec::new(),
    };
    chunks.envelope.extend(turn.response.clone());
    let speaks = parts.iter().any(|(part, _)| matches!(part, ChatPart::Content(_) | ChatPart::Refusal(_)));
    let content = if speaks { json!("") } else { Value::Null };
    chunks.push(json!({"role": "assistant", "content": content, "refusal": null}), None, "");
    let mut call = 0;
    for (part, pieces) in parts {
        chunks.push_part(part, pieces, call);
        call += usize::from(matches!(part, ChatPart::Function { .. } | ChatPart::Custom { .. }));
    }
    if turn.status == Status::Failed {
        let mut error = failure(turn);
        error["type"] = json!("server_error");
        error["param"] = Value::Null;
        chunks.list.push(json!({"error": error}));
        return chunks.list;
    }
    chunks.push(json!({}), Some(finish_reason(turn, parts)), "");
    if chunks.usage {
        let mut last = chunks.envelope.clone();
        last.insert("choices".into(), json!([]));
        last.insert("usage".into(), usage(turn));
        chunks.list.push(Value::Object(last));
    }
    chunks.list
}

#[derive(Debug)]
struct Chunks {
    envelope: Map<String, Value>,
    usage: bool,
    obfuscate: bool,
    list: Vec<Value>,
}

impl Chunks {
    fn push(&mut self, delta: Value, finish: Option<&str>, piece: &str) {
        let mut chunk = self.envelope.clone();
        let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
        chunk.insert("choices".into(), json!([choice]));
        if self.usage {
            chunk.insert("usage".into(), Value::Null);
        }
        if self.obfuscate {
            chunk.insert("obfuscation".into(), json!(letters(obfuscation_length(piece))));
        }
        self.list.push(Value::Object(chunk));
    }

    fn push_part(&mut self, part: &ChatPart, pieces: &[String], call: usize) {
        let field = match part {
            ChatPart::Reasoning(_) => "reasoning_content",
            ChatPart::Content(_) => "content",
            ChatPart::Refusal(_) => "refusal",
            ChatPart::Function { id, name, .. } => {
                let function = json!({"name": name, "arguments": ""});
                let opening = json!({"index": call, "id": id, "type": "function", "function": function});
                self.push(json!({"tool_calls": [opening]}), None, "");
                for piece in pieces {
                    let more = json!({"index": call, "function": {"arguments": piece}});
                    self.push(json!({"tool_calls": [more]}), None, piece);
                }
                return;
            }
            ChatPart::Custom { id, name, .. } => {
                let custom = json!({"name": name, "input": ""});
                let opening = json!({"index": call, "id": id, "type": "custom", "custom": custom});
                self.push(json!({"tool_calls": [opening]}), None, "");
                for piece in pieces {
                    let more = json!({"index": call, "custom": {"input": piece}});
                    self.push(json!({"tool_calls": [more]}), None, piece);
                }
                return;
            }
        };
        for piece in pieces {
            let mut delta = Map::new();
            delta.insert(field.to_owned(), json!(piece));
            self.push(Value::Object(delta), None, piece);
        }
    }
}
