//! Items that grow piece by piece: a message, a call, reasoning. Each writes its events as it grows.

use serde_json::{Value, json};

use super::compose::{Composer, Place};
use crate::ids::fresh_id;

/// What an item ends as: `completed`, or `incomplete` where the model was cut off in it.
pub(super) type Status = &'static str;

pub(super) struct MessageItem {
    place: Place,
    done: Vec<Value>,
    part: Option<Part>,
}

/// A content part that is being written. Text and refusals never mix in one part.
struct Part {
    refusal: bool,
    text: String,
    logprobs: Vec<Value>,
}

impl Part {
    fn as_value(&self) -> Value {
        if self.refusal {
            return json!({"type": "refusal", "refusal": self.text});
        }
        json!({"type": "output_text", "annotations": [], "logprobs": self.logprobs, "text": self.text})
    }
}

impl MessageItem {
    pub(super) fn open(composer: &mut Composer) -> Self {
        let item = json!({
            "id": fresh_id("msg"), "type": "message", "status": "in_progress", "content": [], "role": "assistant",
        });
        Self { place: composer.open(item), done: Vec::new(), part: None }
    }

    pub(super) fn text(&mut self, composer: &mut Composer, delta: &str, logprobs: Vec<Value>) {
        let at = self.index();
        let part = self.part(composer, false);
        part.text.push_str(delta);
        part.logprobs.extend(logprobs.iter().cloned());
        let fields = [("content_index", at), ("delta", delta.into()), ("logprobs", logprobs.into())];
        composer.about("response.output_text.delta", &self.place, fields);
    }

    pub(super) fn refusal(&mut self, composer: &mut Composer, delta: &str) {
        let part = self.part(composer, true);
        part.text.push_str(delta);
        let fields = [("content_index", self.index()), ("delta", delta.into())];
        composer.about("response.refusal.delta", &self.place, fields);
    }

    pub(super) fn close(mut self, composer: &mut Composer, status: Status) {
        self.end_part(composer);
        let item = json!({
            "id": self.place.id, "type": "message", "status": status, "content": self.done, "role": "assistant",
        });
        composer.close(&self.place, item);
    }

    fn index(&self) -> Value {
        self.done.len().into()
    }

    fn part(&mut self, composer: &mut Composer, refusal: bool) -> &mut Part {
        if self.part.as_ref().is_some_and(|part| part.refusal != refusal) {
            self.end_part(composer);
        }
        let at = self.index();
        let place = &self.place;
        self.part.get_or_insert_with(|| {
            let part = Part { refusal, text: String::new(), logprobs: Vec::new() };
            let fields = [("content_index", at), ("part", part.as_value())];
            composer.about("response.content_part.added", place, fields);
            part
        })
    }

    fn end_part(&mut self, composer: &mut Composer) {
        let Some(part) = self.part.take() else { return };
        let at = ("content_index", self.index());
        let text = Value::from(part.text.as_str());
        if part.refusal {
            composer.about("response.refusal.done", &self.place, [at.clone(), ("refusal", text)]);
        } else {
            let fields = [at.clone(), ("text", text), ("logprobs", part.logprobs.clone().into())];
            composer.about("response.output_text.done", &self.place, fields);
        }
        let part = part.as_value();
        composer.about("response.content_part.done", &self.place, [at, ("part", part.clone())]);
        self.done.push(part);
    }
}

pub(super) struct CallItem {
    place: Place,
    call_id: String,
    name: String,
    arguments: String,
    /// A custom tool's, which takes the text in the arguments.
    is_custom: bool,
}

impl CallItem {
    pub(super) fn open(composer: &mut Composer, call_id: String, name: String) -> Self {
        Self::begin(composer, call_id, name, false)
    }

    pub(super) fn open_custom(composer: &mut Composer, call_id: String, name: String) -> Self {
        Self::begin(composer, call_id, name, true)
    }

    fn begin(composer: &mut Composer, call_id: String, name: String, is_custom: bool) -> Self {
        let id = fresh_id(if is_custom { "ctc" } else { "fc" });
        let place = Place { id, index: 0 };
        let mut call = Self { place, call_id, name, arguments: String::new(), is_custom };
        call.place = composer.open(call.as_value("in_progress"));
        call
    }

    pub(super) fn arguments(&mut self, composer: &mut Composer, delta: &str) {
        if !delta.is_empty() {
            self.arguments.push_str(delta);
            // The text lies within, and is told once it is whole.
            if self.is_custom {
                return;
            }
            composer.about("response.function_call_arguments.delta", &self.place, [("delta", delta.into())]);
        }
    }

    pub(super) fn close(self, composer: &mut Composer, status: Status) {
        if self.is_custom {
            let input = self.input();
            if !input.is_empty() {
                let delta = [("delta", input.as_str().into())];
                composer.about("response.custom_tool_call_input.delta", &self.place, delta);
            }
            composer.about("response.custom_tool_call_input.done", &self.place, [("input", input.into())]);
            composer.close(&self.place, self.as_value(status));
            return;
        }
        let fields = [("arguments", self.arguments.as_str().into()), ("name", self.name.as_str().into())];
        composer.about("response.function_call_arguments.done", &self.place, fields);
        composer.close(&self.place, self.as_value(status));
    }

    /// The text for a custom tool. What is no JSON of ours is the text itself; half of it is none.
    fn input(&self) -> String {
        match serde_json::from_str::<Value>(&self.arguments) {
            Ok(Value::Object(arguments)) if arguments.is_empty() => String::new(),
            Ok(Value::Object(arguments)) => match arguments.get("input") {
                Some(Value::String(input)) => input.clone(),
                _ => self.arguments.clone(),
            },
            _ if self.arguments.trim_start().starts_with('{') => String::new(),
            _ => self.arguments.clone(),
        }
    }

    fn as_value(&self, status: Status) -> Value {
        if self.is_custom {
            return json!({
                "id": self.place.id, "type": "custom_tool_call", "status": status,
                "input": self.input(), "call_id": self.call_id, "name": self.name,
            });
        }
        json!({
            "id": self.place.id, "type": "function_call", "status": status,
            "arguments": self.arguments, "call_id": self.call_id, "name": self.name,
        })
    }
}

/// Reasoning in plain words, as open models give it: content, not a summary of it.
pub(super) struct ReasoningItem {
    place: Place,
    text: String,
}

impl ReasoningItem {
    pub(super) fn open(composer: &mut Composer) -> Self {
        let item = json!({"id": fresh_id("rs"), "type": "reasoning", "summary": [], "content": []});
        let place = composer.open(item);
        let fields = [("content_index", json!(0)), ("part", json!({"type": "reasoning_text", "text": ""}))];
        composer.about("response.content_part.added", &place, fields);
        Self { place, text: String::new() }
    }

    pub(super) fn text(&mut self, composer: &mut Composer, delta: &str) {
        self.text.push_str(delta);
        let fields = [("content_index", json!(0)), ("delta", delta.into())];
        composer.about("response.reasoning_text.delta", &self.place, fields);
    }

    pub(super) fn close(self, composer: &mut Composer, status: Status) {
        let at = ("content_index", json!(0));
        let fields = [at.clone(), ("text", self.text.as_str().into())];
        composer.about("response.reasoning_text.done", &self.place, fields);
        let part = json!({"type": "reasoning_text", "text": self.text});
        composer.about("response.content_part.done", &self.place, [at, ("part", part.clone())]);
        let mut item = json!({"id": self.place.id, "type": "reasoning", "summary": [], "content": [part]});
        if status != "completed" {
            item["status"] = status.into();
        }
        composer.close(&self.place, item);
    }
}
