//! The client's stream: one numbering over all turns, and a place for the events to go.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use crate::error::{GateError, Result};
use crate::obfuscation;
use crate::recording::Recording;

/// One event as it goes over the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamEvent {
    pub sequence: u64,
    /// The same as the `type` in the data.
    pub kind: String,
    pub data: String,
}

/// Where events go.
#[derive(Debug)]
pub(crate) enum Sink {
    /// The client waits for the whole answer.
    Nowhere,
    /// To the client, who hangs up by dropping the other end.
    Client(mpsc::Sender<StreamEvent>),
    /// Kept, for whoever asks; nobody has to listen.
    Recording(Arc<Recording>),
}

#[derive(Debug)]
pub(crate) struct Emitter {
    sink: Sink,
    sequence: u64,
    obfuscation: bool,
}

impl Emitter {
    pub(crate) fn new(sink: Sink, obfuscation: bool) -> Self {
        Self { sink, sequence: 0, obfuscation }
    }

    /// Whether anybody sees events; what is made only for them can be left out otherwise.
    pub(crate) fn is_heard(&self) -> bool {
        !matches!(self.sink, Sink::Nowhere)
    }

    /// Sends an event of this type with these fields.
    pub(crate) async fn emit(&mut self, kind: &str, fields: Value) -> Result<()> {
        match fields {
            Value::Object(fields) if self.is_heard() => self.send(kind, fields).await,
            _ => Ok(()),
        }
    }

    /// Sends on an event of the upstream's, whose place in the stream is ours to say.
    pub(crate) async fn pass(&mut self, mut event: Map<String, Value>) -> Result<()> {
        if !self.is_heard() {
            return Ok(());
        }
        let Some(Value::String(kind)) = event.shift_remove("type") else { return Ok(()) };
        // The type stands on a line of its own; a line break in it would begin an event that nobody sent.
        if !kind.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_')) {
            return Ok(());
        }
        event.shift_remove("sequence_number");
        self.send(&kind, event).await
    }

    async fn send(&mut self, kind: &str, fields: Map<String, Value>) -> Result<()> {
        let mut event = Map::with_capacity(fields.len() + 3);
        event.insert("type".to_owned(), json!(kind));
        event.insert("sequence_number".to_owned(), json!(self.sequence));
        event.extend(fields);
        obfuscation::apply(&mut event, self.obfuscation);
        let data = Value::Object(event).to_string();
        let event = StreamEvent { sequence: self.sequence, kind: kind.to_owned(), data };
        self.sequence += 1;
        match &self.sink {
            Sink::Nowhere => Ok(()),
            Sink::Client(client) => client.send(event).await.map_err(|_| GateError::Cancelled),
            Sink::Recording(recording) => recording.add(event).await,
        }
    }
}
