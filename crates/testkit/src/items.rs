//! What the script says, as the output items of a finished response.

use serde_json::{Map, Value, json};

use crate::ids::{Ids, call_id};
use crate::script::{Item, Reasoning, Status, Turn};

/// An output item, and the pieces its deltas are cut into.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) item: Map<String, Value>,
    pub(crate) pieces: Vec<String>,
}

pub(crate) const PYTHON: &str = "python";

const ORDINARY_CHUNK: usize = 12;

/// The turn's items in order. In an incomplete response, the last one is incomplete.
pub(crate) fn items_of(turn: &Turn, ids: &Ids) -> Vec<Said> {
    let mut said: Vec<Said> = turn.items.iter().map(|item| say(item, turn.chunk, ids)).collect();
    if turn.status == Status::Incomplete
        && let Some(status) = said.last_mut().and_then(|last| last.item.get_mut("status"))
    {
        *status = json!("incomplete");
    }
    said
}

fn say(item: &Item, chunk: Option<usize>, ids: &Ids) -> Said {
    let size = chunk.unwrap_or(ORDINARY_CHUNK);
    match item {
        Item::Reasoning { reasoning, encrypted_content } => {
            reasoning_item(reasoning, encrypted_content.as_ref(), size, ids)
        }
        Item::Code { code, call_id } => {
            let arguments = json!({ "code": code }).to_string();
            let pieces = if chunk.is_some() { cut(&arguments, size) } else { code_pieces(code, size) };
            Said { item: function_call(PYTHON, &arguments, call_id.as_ref(), ids), pieces }
        }
        Item::Arguments { arguments, call_id } => Said {
            item: function_call(PYTHON, arguments, call_id.as_ref(), ids),
            pieces: cut(arguments, size),
        },
        Item::Call { call } => Said {
            item: function_call(&call.name, &call.arguments, call.call_id.as_ref(), ids),
            pieces: cut(&call.arguments, size),
        },
        Item::CustomCall { custom_call: call } => Said {
            item: object(json!({"id": ids.make("ctc"), "type": "custom_tool_call", "status": "completed",
                "call_id": call.call_id.clone().unwrap_or_else(call_id), "input": call.input, "name": call.name})),
            pieces: cut(&call.input, size),
        },
        Item::Text { text, phase } => {
            let part = json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text});
            Said { item: message(&part, phase.as_ref(), ids), pieces: cut(text, size) }
        }
        Item::Refusal { refusal } => {
            let part = json!({"type": "refusal", "refusal": refusal});
            Said { item: message(&part, None, ids), pieces: cut(refusal, size) }
        }
        Item::Literal { item } => literal(item, size, ids),
    }
}

fn reasoning_item(reasoning: &Reasoning, encrypted: Option<&String>, size: usize, ids: &Ids) -> Said {
    let mut item = object(json!({"id": ids.make("rs"), "type": "reasoning", "summary": []}));
    let mut pieces = Vec::new();
    if let Reasoning::Summary(text) = reasoning {
        item.insert("summary".into(), json!([{"type": "summary_text", "text": text}]));
        pieces = cut(text, size);
    }
    if let Some(encrypted) = encrypted {
        item.insert("encrypted_content".into(), json!(encrypted));
    }
    Said { item, pieces }
}

fn function_call(name: &str, arguments: &str, id: Option<&String>, ids: &Ids) -> Map<String, Value> {
    object(
        json!({"id": ids.make("fc"), "type": "function_call", "status": "completed", "arguments": arguments,
        "call_id": id.cloned().unwrap_or_else(call_id), "name": name}),
    )
}

fn message(part: &Value, phase: Option<&String>, ids: &Ids) -> Map<String, Value> {
    let mut item = object(json!({"id": ids.make("msg"), "type": "message", "status": "completed",
        "content": [part], "role": "assistant"}));
    if let Some(phase) = phase {
        item.insert("phase".into(), json!(phase));
    }
    item
}

fn literal(item: &Map<String, Value>, size: usize, ids: &Ids) -> Said {
    let mut item = item.clone();
    let kind = item.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let prefix = match kind.as_str() {
        "message" => "msg",
        "reasoning" => "rs",
        "function_call" => "fc",
        "custom_tool_call" => "ctc",
        _ => "item",
    };
    item.entry("id").or_insert_with(|| json!(ids.make(prefix)));
    let said = Value::Object(item.clone());
    let text = match kind.as_str() {
        "message" => said.pointer("/content/0/text").or_else(|| said.pointer("/content/0/refusal")),
        "reasoning" => said.pointer("/summary/0/text"),
        "function_call" => said.get("arguments"),
        "custom_tool_call" => said.get("input"),
        _ => None,
    };
    let pieces = cut(text.and_then(Value::as_str).unwrap_or_default(), size);
    Said { item, pieces }
}

fn object(value: Value) -> Map<String, Value> {
    if let Value::Object(map) = value { map } else { Map::new() }
}

/// Pieces of so many characters. An empty text has none.
fn cut(text: &str, size: usize) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(size.max(1)).map(|piece| piece.iter().collect()).collect()
}

/// The arguments of a code call cut so that each piece in the middle holds `size` characters of the code.
fn code_pieces(code: &str, size: usize) -> Vec<String> {
    let mut pieces = vec![r#"{"code":""#.to_owned()];
    pieces.extend(cut(code, size).iter().map(|piece| {
        let quoted = Value::from(piece.as_str()).to_string();
        quoted[1..quoted.len() - 1].to_owned()
    }));
    pieces.push("\"}".to_owned());
    pieces
}

#[cfg(test)]
#[path = "items_tests.rs"]
mod tests;
