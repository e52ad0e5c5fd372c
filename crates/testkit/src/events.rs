//! A turn as the stream events of the Responses API, in the order the real service sends them.

use serde_json::{Map, Value, json};

use crate::ids::{Ids, letters};
use crate::item_events::stream_item;
use crate::items::items_of;
use crate::response::{begun, ended, failure};
use crate::script::{Status, Turn};

/// Events under way, numbered as they are added.
#[derive(Debug)]
pub(crate) struct Events {
    list: Vec<Value>,
    obfuscate: bool,
}

impl Events {
    /// Adds an event: its type and number first, then these fields.
    pub(crate) fn push(&mut self, kind: &str, fields: Value) {
        let mut event = Map::new();
        event.insert("type".into(), json!(kind));
        event.insert("sequence_number".into(), json!(self.list.len()));
        if let Value::Object(fields) = fields {
            event.extend(fields);
        }
        self.list.push(Value::Object(event));
    }

    /// Adds a delta, filled up to a multiple of sixteen characters as the real service does.
    pub(crate) fn push_delta(&mut self, kind: &str, fields: Value, delta: &str) {
        let mut fields = fields;
        fields["delta"] = json!(delta);
        if kind == "response.output_text.delta" {
            fields["logprobs"] = json!([]);
        }
        if self.obfuscate {
            fields["obfuscation"] = json!(letters(obfuscation_length(delta)));
        }
        self.push(kind, fields);
    }
}

pub(crate) fn obfuscation_length(delta: &str) -> usize {
    16 - delta.chars().count() % 16
}

/// Both forms of one answer: the events of the stream, and the response when all is said.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) events: Vec<Value>,
    pub(crate) response: Map<String, Value>,
}

pub(crate) fn answer(request: &Map<String, Value>, turn: &Turn) -> Answer {
    let ids = Ids::new();
    let said = items_of(turn, &ids);
    let begun = begun(&ids.make("resp"), request, turn);
    let response = ended(&begun, &said, turn);

    let obfuscate = request
        .get("stream_options")
        .and_then(|options| options.get("include_obfuscation"))
        .and_then(Value::as_bool)
        .unwrap_or(true);
    let mut events = Events { list: Vec::new(), obfuscate };
    events.push("response.created", json!({"response": begun}));
    events.push("response.in_progress", json!({"response": begun}));
    for (index, said) in said.iter().enumerate() {
        stream_item(&mut events, index, said);
    }
    match turn.status {
        Status::Completed => events.push("response.completed", json!({"response": response})),
        Status::Incomplete => events.push("response.incomplete", json!({"response": response})),
        Status::Failed => {
            if turn.error.is_some() {
                let mut error = failure(turn);
                error["type"] = json!("server_error");
                error["param"] = Value::Null;
                events.push("error", json!({"error": error}));
            }
            events.push("response.failed", json!({"response": response}));
        }
    }
    Answer { events: events.list, response }
}
