//! The one completion that the client gets of all turns: under one id, streamed in chunks as it comes or
//! whole at the end.

use sandgate_core::{now_seconds, random_alphanumeric};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::gather::{GROWING, add, is_nothing};
use crate::emitter::StreamEvent;
use crate::error::{GateError, Result, Said};

#[derive(Debug)]
pub(super) struct Answer {
    /// None: the client waits for the whole.
    client: Option<mpsc::Sender<StreamEvent>>,
    include_usage: bool,
    /// What chunks have in common: who and when as the first turn said.
    envelope: Map<String, Value>,
    /// The message so far, over all turns.
    message: Map<String, Value>,
    logprobs: Value,
    /// Fields of the choice that only the server knows.
    choice: Map<String, Value>,
    /// Fields that were written to in this turn: what an earlier turn wrote there is a paragraph of its own.
    fresh: Vec<String>,
    /// What only the chunk at hand says: it goes out with the first that is made of it.
    own: Map<String, Value>,
    /// The same of all chunks, for the whole.
    extras: Map<String, Value>,
}

impl Answer {
    pub(super) fn new(client: Option<mpsc::Sender<StreamEvent>>, include_usage: bool) -> Self {
        Self {
            client,
            include_usage,
            envelope: Map::new(),
            message: Map::new(),
            logprobs: Value::Null,
            choice: Map::new(),
            fresh: Vec::new(),
            own: Map::new(),
            extras: Map::new(),
        }
    }

    pub(super) fn is_streamed(&self) -> bool {
        self.client.is_some()
    }

    /// Under which the client knows it; None before the first chunk.
    pub(super) fn id(&self) -> Option<&str> {
        self.envelope.get("id").and_then(Value::as_str)
    }

    /// All text so far.
    pub(super) fn text(&self) -> &str {
        self.message.get("content").and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn next_turn(&mut self) {
        self.fresh.clear();
    }

    /// Takes what a chunk says besides its choices and its usage.
    pub(super) fn learn(&mut self, mut chunk: Map<String, Value>) {
        let mut given = |name: &str| chunk.shift_remove(name).filter(|value| !is_nothing(value));
        let (id, created, model) = (given("id"), given("created"), given("model"));
        chunk.shift_remove("object");
        if self.envelope.is_empty() {
            let id = id.unwrap_or_else(|| json!(format!("chatcmpl-{}", random_alphanumeric(29))));
            self.envelope.insert("id".to_owned(), id);
            self.envelope.insert("object".to_owned(), Value::Null);
            self.envelope.insert("created".to_owned(), created.unwrap_or_else(|| json!(now_seconds())));
            self.envelope.insert("model".to_owned(), model.unwrap_or_else(|| json!("")));
        }
        for steady in ["service_tier", "system_fingerprint"] {
            if let Some(value) = chunk.shift_remove(steady) {
                self.envelope.insert(steady.to_owned(), value);
            }
        }
        self.own = chunk;
        let kept = self.own.iter().filter(|(name, _)| *name != "obfuscation");
        self.extras.extend(kept.map(|(name, value)| (name.clone(), value.clone())));
    }

    /// What the model says goes on at once.
    pub(super) async fn pass(
        &mut self,
        mut delta: Map<String, Value>,
        choice: &Map<String, Value>,
    ) -> Result<()> {
        let is_first = self.message.is_empty();
        if !is_first {
            delta.shift_remove("role");
        }
        self.separate(&mut delta);
        add(&mut self.message, &delta);
        add_logprobs(&mut self.logprobs, choice.get("logprobs"));
        let known = ["index", "delta", "finish_reason", "logprobs"];
        let more = choice.iter().filter(|(name, _)| !known.contains(&name.as_str()));
        let more: Map<String, Value> = more.map(|(name, value)| (name.clone(), value.clone())).collect();
        let says_nothing = delta.values().all(is_nothing) && more.values().all(is_nothing);
        self.choice.extend(more.clone());
        if says_nothing && !is_first {
            return Ok(());
        }
        let mut shown = Map::new();
        shown.insert("index".to_owned(), json!(0));
        shown.insert("delta".to_owned(), Value::Object(delta));
        if let Some(logprobs) = choice.get("logprobs") {
            shown.insert("logprobs".to_owned(), logprobs.clone());
        }
        shown.extend(more);
        shown.insert("finish_reason".to_owned(), Value::Null);
        self.send(json!([shown]), Value::Null).await
    }

    /// A delta of our own, for streams.
    pub(super) async fn delta(&mut self, delta: Value) -> Result<()> {
        self.send(json!([{"index": 0, "delta": delta, "finish_reason": null}]), Value::Null).await
    }

    /// A chunk without choices that is no count of tokens: some servers begin with one.
    pub(super) async fn aside(&mut self) -> Result<()> {
        self.send(json!([]), Value::Null).await
    }

    /// Calls that the client has to answer, for the whole.
    pub(super) fn set(&mut self, name: &str, value: Value) {
        self.message.insert(name.to_owned(), value);
    }

    /// The last chunks, and the whole.
    pub(super) async fn finish(&mut self, reason: &str, usage: Option<Value>) -> Result<Value> {
        let last = json!([{"index": 0, "delta": {}, "finish_reason": reason}]);
        self.send(last, Value::Null).await?;
        if let (true, Some(usage)) = (self.include_usage, &usage) {
            self.send(json!([]), usage.clone()).await?;
        }
        self.write("[DONE]".to_owned()).await?;
        let mut message = std::mem::take(&mut self.message);
        message.entry("role").or_insert_with(|| json!("assistant"));
        message.entry("content").or_insert(Value::Null);
        message.entry("refusal").or_insert(Value::Null);
        let mut choice = Map::new();
        choice.insert("index".to_owned(), json!(0));
        choice.insert("message".to_owned(), Value::Object(message));
        choice.insert("logprobs".to_owned(), self.logprobs.take());
        choice.append(&mut self.choice);
        choice.insert("finish_reason".to_owned(), json!(reason));
        let mut whole = self.envelope.clone();
        whole.insert("object".to_owned(), json!("chat.completion"));
        whole.insert("choices".to_owned(), json!([choice]));
        if let Some(usage) = usage {
            whole.insert("usage".to_owned(), usage);
        }
        whole.append(&mut self.extras);
        Ok(Value::Object(whole))
    }

    /// In a stream that has begun: what clients raise as an error.
    pub(super) async fn fail(&mut self, said: &Said) {
        let error = json!({"message": said.message, "type": said.kind, "param": null, "code": said.code});
        // Who is gone need not be told.
        let _ = self.write(json!({"error": error}).to_string()).await;
    }

    /// The first words of a turn, after another has spoken, begin a paragraph.
    fn separate(&mut self, delta: &mut Map<String, Value>) {
        for name in GROWING {
            let Some(Value::String(more)) = delta.get_mut(name) else { continue };
            if more.is_empty() || self.fresh.iter().any(|fresh| fresh == name) {
                continue;
            }
            self.fresh.push(name.to_owned());
            let before = self.message.get(name).and_then(Value::as_str).unwrap_or_default();
            if !before.trim().is_empty() && !before.ends_with("\n\n") && !more.starts_with("\n\n") {
                more.insert_str(0, "\n\n");
            }
        }
    }

    async fn send(&mut self, choices: Value, usage: Value) -> Result<()> {
        if self.client.is_none() {
            return Ok(());
        }
        let mut chunk = self.envelope.clone();
        chunk.insert("object".to_owned(), json!("chat.completion.chunk"));
        chunk.insert("choices".to_owned(), choices);
        if self.include_usage {
            chunk.insert("usage".to_owned(), usage);
        }
        chunk.append(&mut self.own);
        self.write(Value::Object(chunk).to_string()).await
    }

    async fn write(&mut self, data: String) -> Result<()> {
        let Some(client) = &self.client else { return Ok(()) };
        let event = StreamEvent { sequence: 0, kind: String::new(), data };
        client.send(event).await.map_err(|_| GateError::Cancelled)
    }
}

fn add_logprobs(sum: &mut Value, more: Option<&Value>) {
    match (sum, more) {
        (Value::Object(sum), Some(Value::Object(more))) => add(sum, more),
        (sum, Some(more)) if !more.is_null() => *sum = more.clone(),
        _ => {}
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
