//! A turn as the body of an answer, in the form the request asked for.

use serde_json::{Map, Value, json};

use crate::answer::{EVENT_STREAM, JSON};
use crate::chat::{completion, parts_of};
use crate::chat_chunks::chunks;
use crate::delivery::Part;
use crate::events::answer;
use crate::ids::Ids;
use crate::items::items_of;
use crate::response::failure;
use crate::script::{Status, Turn};
use crate::sse::{CHAT_END, chat_chunk, response_event};

/// What is sent, and the ids that are thereby given out.
#[derive(Debug)]
pub(crate) struct Spoken {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) parts: Vec<Part>,
    pub(crate) ids: Vec<String>,
}

impl Default for Spoken {
    fn default() -> Self {
        Self { status: 200, content_type: JSON, parts: Vec::new(), ids: Vec::new() }
    }
}

pub(crate) fn say_response(request: &Map<String, Value>, turn: &Turn) -> Result<Spoken, String> {
    let answer = answer(request, turn);
    let mut ids = ids_in(answer.response.get("output"));
    ids.extend(answer.response.get("id").and_then(Value::as_str).map(str::to_owned));
    if !wants_stream(request, turn) {
        let body = Value::Object(answer.response).to_string();
        return Ok(Spoken { parts: vec![Part::new(body)], ids, ..Spoken::default() });
    }
    let parts = answer.events.iter().map(|event| {
        let text = response_event(event);
        if event.get("delta").is_some() { Part::delta(text) } else { Part::new(text) }
    });
    Ok(Spoken { status: 200, content_type: EVENT_STREAM, parts: parts.collect(), ids })
}

pub(crate) fn say_chat(request: &Map<String, Value>, turn: &Turn) -> Result<Spoken, String> {
    let said = items_of(turn, &Ids::new());
    let parts = parts_of(&said)?;
    let items = said.iter().map(|said| Value::Object(said.item.clone())).collect();
    let ids = ids_in(Some(&items));
    if wants_stream(request, turn) {
        let chunks = chunks(request, turn, &parts);
        let mut sent: Vec<Part> = chunks.iter().map(chat_part).collect();
        if turn.status != Status::Failed {
            sent.push(Part::new(CHAT_END));
        }
        return Ok(Spoken { status: 200, content_type: EVENT_STREAM, parts: sent, ids });
    }
    if turn.status == Status::Failed {
        let mut error = failure(turn);
        error["type"] = json!("server_error");
        error["param"] = Value::Null;
        let body = json!({ "error": error }).to_string();
        return Ok(Spoken { status: 500, parts: vec![Part::new(body)], ..Spoken::default() });
    }
    let body = Value::Object(completion(request, turn, &parts)).to_string();
    Ok(Spoken { parts: vec![Part::new(body)], ids, ..Spoken::default() })
}

fn chat_part(chunk: &Value) -> Part {
    let delta = chunk.pointer("/choices/0/delta").and_then(Value::as_object);
    let opens = delta.is_none_or(|delta| delta.is_empty() || delta.contains_key("role"));
    let text = chat_chunk(chunk);
    if opens { Part::new(text) } else { Part::delta(text) }
}

fn wants_stream(request: &Map<String, Value>, turn: &Turn) -> bool {
    !turn.json_only && request.get("stream").and_then(Value::as_bool).unwrap_or(false)
}

fn ids_in(items: Option<&Value>) -> Vec<String> {
    let items = items.and_then(Value::as_array).into_iter().flatten();
    let named = items.flat_map(|item| [item.get("id"), item.get("call_id")]);
    named.flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
