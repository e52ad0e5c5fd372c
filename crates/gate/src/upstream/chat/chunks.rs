//! Chat Completions chunks, or a whole completion, as the events of a response.

use std::collections::HashSet;

use serde_json::Value;

use super::UpstreamError;
use super::calls::Calls;
use super::failure::error_in;
use super::tools::custom_names;
use super::usage::usage;
use super::whole::as_chunk;
use crate::upstream::compose::{Composer, Ending, Object, response_to};
use crate::upstream::items::{MessageItem, ReasoningItem};

/// Strict clients refuse others, and servers make up their own.
const KNOWN_TIERS: [&str; 6] = ["auto", "default", "flex", "scale", "priority", "fast"];

pub(super) struct Translator {
    request: Object,
    /// From the first chunk on, which names the model.
    composer: Option<Composer>,
    open: Open,
    calls: Calls,
    /// Text that waits: blanks before a message, or what was said while calls were still coming.
    held: String,
    usage: Value,
    finish: Option<Ending>,
    over: bool,
}

/// Items follow each other: one at most is being written, besides the calls.
enum Open {
    Nothing,
    Reasoning(ReasoningItem),
    Message(MessageItem),
}

impl Translator {
    pub(super) fn new(request: Object) -> Self {
        let calls = Calls::new(call_ids(&request), custom_names(&request));
        Self {
            request,
            composer: None,
            open: Open::Nothing,
            calls,
            held: String::new(),
            usage: Value::Null,
            finish: None,
            over: false,
        }
    }

    /// The last event has been made.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// The model has said why it stopped; only counts can follow.
    pub(super) fn has_finished(&self) -> bool {
        self.finish.is_some()
    }

    pub(super) fn chunk(&mut self, chunk: &Object) -> Result<Vec<Value>, UpstreamError> {
        if let Some(error) = error_in(chunk) {
            return Ok(self.failed(&error));
        }
        let mut composer = self.composer.take().unwrap_or_else(|| {
            let model = chunk.get("model").and_then(Value::as_str).filter(|model| !model.is_empty());
            Composer::new(response_to(&self.request, model))
        });
        let tier = chunk.get("service_tier").and_then(Value::as_str);
        if let Some(tier) = tier.filter(|tier| KNOWN_TIERS.contains(tier)) {
            composer.response_mut().insert("service_tier".to_owned(), tier.into());
        }
        let outcome = self.choices(&mut composer, chunk);
        let counts = chunk.get("usage").filter(|counts| counts.is_object());
        if let Some(counts) = counts {
            self.usage = usage(counts);
        }
        let mut events = composer.take();
        self.composer = Some(composer);
        outcome?;
        // Counts that came before the end may be the first of several.
        if self.has_finished() && counts.is_some() {
            events.extend(self.end(false)?);
        }
        Ok(events)
    }

    /// A completion that came in one piece.
    pub(super) fn whole(&mut self, completion: Object) -> Result<Vec<Value>, UpstreamError> {
        if error_in(&completion).is_some() {
            return self.chunk(&completion);
        }
        let mut events = self.chunk(&as_chunk(completion)?)?;
        if !self.over {
            events.extend(self.end(true)?);
        }
        Ok(events)
    }

    /// Nothing more comes. `said_so`: the server marked the end.
    pub(super) fn end(&mut self, said_so: bool) -> Result<Vec<Value>, UpstreamError> {
        if self.over {
            return Ok(Vec::new());
        }
        let Some(mut composer) = self.composer.take().filter(|_| said_so || self.has_finished()) else {
            return Err(UpstreamError::Broken("it ended without a finish_reason".to_owned()));
        };
        self.over = true;
        let ending = self.finish.unwrap_or(Ending::Completed);
        self.close_all(&mut composer, ending)?;
        composer.finish(ending, self.usage.take());
        Ok(composer.take())
    }

    fn choices(&mut self, composer: &mut Composer, chunk: &Object) -> Result<(), UpstreamError> {
        let choices = chunk.get("choices").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        // Others than the first are alternatives that nobody asked for.
        let first = |choice: &&Value| choice["index"].as_u64().unwrap_or(0) == 0;
        for choice in choices.iter().filter(first) {
            self.delta(composer, &choice["delta"], &choice["logprobs"])?;
            if let Some(reason) = choice["finish_reason"].as_str().filter(|reason| !reason.is_empty()) {
                let ending = match reason {
                    "length" => Ending::Incomplete("max_output_tokens"),
                    "content_filter" => Ending::Incomplete("content_filter"),
                    _ => Ending::Completed,
                };
                self.finish = Some(ending);
                self.close_all(composer, ending)?;
            }
        }
        Ok(())
    }

    fn delta(
        &mut self,
        composer: &mut Composer,
        delta: &Value,
        logprobs: &Value,
    ) -> Result<(), UpstreamError> {
        let said = |name: &str| delta[name].as_str().filter(|text| !text.is_empty());
        // Some servers send the same thought under both names.
        if let Some(thought) = said("reasoning_content").or_else(|| said("reasoning")) {
            self.reasoning(composer, thought);
        }
        match &delta["content"] {
            Value::String(text) => {
                let logprobs = logprobs["content"].as_array().cloned().unwrap_or_default();
                self.text(composer, text, logprobs);
            }
            Value::Array(parts) => {
                for part in parts {
                    match &part["thinking"] {
                        Value::Null => {
                            self.text(composer, part["text"].as_str().unwrap_or_default(), Vec::new())
                        }
                        thinking => thoughts(thinking).for_each(|text| self.reasoning(composer, text)),
                    }
                }
            }
            _ => {}
        }
        if let Some(refusal) = said("refusal") {
            self.message(composer, |item, composer| item.refusal(composer, refusal));
        }
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            self.close_open(composer, "completed");
            self.calls.add(composer, call)?;
        }
        Ok(())
    }

    fn reasoning(&mut self, composer: &mut Composer, text: &str) {
        if let Open::Reasoning(item) = &mut self.open {
            return item.text(composer, text);
        }
        self.close_open(composer, "completed");
        self.calls.settle(composer);
        let mut item = ReasoningItem::open(composer);
        item.text(composer, text);
        self.open = Open::Reasoning(item);
    }

    fn text(&mut self, composer: &mut Composer, text: &str, logprobs: Vec<Value>) {
        if text.is_empty() {
            return;
        }
        self.held.push_str(text);
        if !matches!(self.open, Open::Message(_)) {
            // Blanks between a thought and a call are no message.
            if self.held.trim().is_empty() || !self.calls.settle(composer) {
                return;
            }
        }
        let text = std::mem::take(&mut self.held);
        self.message(composer, |item, composer| item.text(composer, &text, logprobs));
    }

    /// Writes to the open message, or to a new one.
    fn message(&mut self, composer: &mut Composer, write: impl FnOnce(&mut MessageItem, &mut Composer)) {
        if !matches!(self.open, Open::Message(_)) {
            self.close_open(composer, "completed");
        }
        let mut item = match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Message(item) => item,
            Open::Nothing | Open::Reasoning(_) => MessageItem::open(composer),
        };
        write(&mut item, composer);
        self.open = Open::Message(item);
    }

    fn close_open(&mut self, composer: &mut Composer, status: &'static str) {
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Nothing => {}
            Open::Reasoning(item) => item.close(composer, status),
            Open::Message(item) => item.close(composer, status),
        }
    }

    fn close_all(&mut self, composer: &mut Composer, ending: Ending) -> Result<(), UpstreamError> {
        let cut_off = ending != Ending::Completed;
        self.close_open(composer, if cut_off { "incomplete" } else { "completed" });
        self.calls.finish(composer, cut_off)?;
        let held = std::mem::take(&mut self.held);
        if !held.trim().is_empty() {
            self.message(composer, |item, composer| item.text(composer, &held, Vec::new()));
            self.close_open(composer, if cut_off { "incomplete" } else { "completed" });
        }
        Ok(())
    }

    fn failed(&mut self, error: &Object) -> Vec<Value> {
        self.over = true;
        let mut composer = self.composer.take().unwrap_or_else(Composer::without_start);
        composer.emit("error", [("error", Value::Object(error.clone()))]);
        composer.take()
    }
}

fn thoughts(thinking: &Value) -> impl Iterator<Item = &str> {
    let parts = thinking.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
    thinking.as_str().into_iter().chain(parts).filter(|text| !text.is_empty())
}

/// The ids of calls in the request: an answer must not use them again.
fn call_ids(request: &Object) -> HashSet<String> {
    let items = request.get("input").and_then(Value::as_array).into_iter().flatten();
    items.filter_map(|item| item["call_id"].as_str().map(ToOwned::to_owned)).collect()
}

#[cfg(test)]
#[path = "chunks_tests.rs"]
mod tests;
