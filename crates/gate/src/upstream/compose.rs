//! Writes the events of a response that did not come as events: numbers them, keeps the output, and ends
//! it. What the events of each kind of item are is up to the caller.

use sandgate_core::{now_seconds, random_alphanumeric};
use serde_json::{Map, Value, json};

use crate::ids::fresh_id;

pub(super) type Object = Map<String, Value>;

/// How a response ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Completed,
    /// The reason, as `incomplete_details` spells it.
    Incomplete(&'static str),
}

/// An item whose events are being written.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) id: String,
    pub(super) index: usize,
}

#[derive(Debug)]
pub(super) struct Composer {
    response: Object,
    output: Vec<Value>,
    sequence: u64,
    ready: Vec<Value>,
}

impl Composer {
    /// For an answer that fails before there is a response.
    pub(super) fn without_start() -> Self {
        Self { response: Object::new(), output: Vec::new(), sequence: 0, ready: Vec::new() }
    }

    /// Starts with `response.created` and `response.in_progress`.
    pub(super) fn new(response: Object) -> Self {
        let mut composer = Self { response, ..Self::without_start() };
        for kind in ["response.created", "response.in_progress"] {
            let response = composer.response.clone();
            composer.emit(kind, [("response", Value::Object(response))]);
        }
        composer
    }

    /// The events written since the last call.
    pub(super) fn take(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.ready)
    }

    pub(super) fn response_mut(&mut self) -> &mut Object {
        &mut self.response
    }

    pub(super) fn emit<const N: usize>(&mut self, kind: &str, fields: [(&str, Value); N]) {
        let mut event = Object::with_capacity(N + 2);
        event.insert("type".to_owned(), kind.into());
        event.insert("sequence_number".to_owned(), self.sequence.into());
        event.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
        self.sequence += 1;
        self.ready.push(Value::Object(event));
    }

    /// `output_item.added`, with the item as it is before anything of it came.
    pub(super) fn open(&mut self, item: Value) -> Place {
        let place =
            Place { id: item["id"].as_str().unwrap_or_default().to_owned(), index: self.output.len() };
        self.output.push(item.clone());
        self.emit("response.output_item.added", [("output_index", place.index.into()), ("item", item)]);
        place
    }

    /// An event about a part of an item.
    pub(super) fn about<const N: usize>(&mut self, kind: &str, place: &Place, fields: [(&str, Value); N]) {
        self.emit(kind, [("item_id", place.id.as_str().into()), ("output_index", place.index.into())]);
        self.extend_last(fields);
    }

    /// Adds fields to the event written last.
    pub(super) fn extend_last<const N: usize>(&mut self, fields: [(&str, Value); N]) {
        if let Some(Value::Object(event)) = self.ready.last_mut() {
            event.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
        }
    }

    /// `output_item.done`, with the item as it is in the end.
    pub(super) fn close(&mut self, place: &Place, item: Value) {
        self.output[place.index] = item.clone();
        self.emit("response.output_item.done", [("output_index", place.index.into()), ("item", item)]);
    }

    /// The last event, with the whole response in it.
    pub(super) fn finish(&mut self, ending: Ending, usage: Value) {
        let kind = match ending {
            Ending::Completed => {
                self.response.insert("status".to_owned(), "completed".into());
                self.response.insert("completed_at".to_owned(), now_seconds().into());
                "response.completed"
            }
            Ending::Incomplete(reason) => {
                self.response.insert("status".to_owned(), "incomplete".into());
                self.response.insert("incomplete_details".to_owned(), json!({"reason": reason}));
                "response.incomplete"
            }
        };
        self.response.insert("output".to_owned(), std::mem::take(&mut self.output).into());
        self.response.insert("usage".to_owned(), usage);
        let response = std::mem::take(&mut self.response);
        self.emit(kind, [("response", Value::Object(response))]);
    }
}

pub(super) fn new_call_id() -> String {
    format!("call_{}", random_alphanumeric(24))
}

/// The response object that belongs to a request, as it is before the model said anything.
pub(super) fn response_to(request: &Object, model: Option<&str>) -> Object {
    let given = |name: &str, otherwise: Value| match request.get(name) {
        Some(value) if !value.is_null() => value.clone(),
        _ => otherwise,
    };
    let mut reasoning = json!({"effort": null, "summary": null});
    merge(&mut reasoning, request.get("reasoning"));
    let mut text = json!({"format": {"type": "text"}, "verbosity": "medium"});
    merge(&mut text, request.get("text"));
    let fields = json!({
        "id": fresh_id("resp"),
        "object": "response",
        "created_at": now_seconds(),
        "status": "in_progress",
        "background": false,
        "completed_at": null,
        "error": null,
        "incomplete_details": null,
        "instructions": given("instructions", Value::Null),
        "max_output_tokens": given("max_output_tokens", Value::Null),
        "max_tool_calls": given("max_tool_calls", Value::Null),
        "model": model.map_or_else(|| given("model", "".into()), Value::from),
        "output": [],
        "parallel_tool_calls": given("parallel_tool_calls", true.into()),
        "previous_response_id": given("previous_response_id", Value::Null),
        "prompt_cache_key": given("prompt_cache_key", Value::Null),
        "reasoning": reasoning,
        "safety_identifier": given("safety_identifier", Value::Null),
        "service_tier": given("service_tier", "default".into()),
        "store": given("store", true.into()),
        "temperature": given("temperature", json!(1.0)),
        "text": text,
        "tool_choice": given("tool_choice", "auto".into()),
        "tools": given("tools", json!([])),
        "top_logprobs": given("top_logprobs", json!(0)),
        "top_p": given("top_p", json!(1.0)),
        "truncation": given("truncation", "disabled".into()),
        "usage": null,
        "user": given("user", Value::Null),
        "metadata": given("metadata", json!({})),
    });
    match fields {
        Value::Object(fields) => fields,
        _ => Object::new(),
    }
}

fn merge(into: &mut Value, from: Option<&Value>) {
    if let (Value::Object(into), Some(Value::Object(from))) = (into, from) {
        into.extend(from.iter().map(|(name, value)| (name.clone(), value.clone())));
    }
}
