//! The JSON payloads of an upstream's event stream, one after the other.

use http_body_util::BodyExt;
use serde_json::{Map, Value};

use super::answer::AnswerBody;
use super::sse::{SseEvent, SseParser};
use super::{SseError, UpstreamError};

pub(super) enum Payload {
    Json {
        name: String,
        value: Map<String, Value>,
    },
    /// `[DONE]`, with which Chat Completions and some others end.
    Done,
}

pub(super) struct EventSource {
    body: AnswerBody,
    parser: SseParser,
    failed: Option<SseError>,
}

impl EventSource {
    pub(super) fn new(body: AnswerBody) -> Self {
        Self { body, parser: SseParser::default(), failed: None }
    }

    /// The next payload, or `None` where the stream ended between two events.
    pub(super) async fn next(&mut self) -> Result<Option<Payload>, UpstreamError> {
        loop {
            if let Some(event) = self.parser.next_event() {
                return decode(event).map(Some);
            }
            if let Some(error) = self.failed {
                return Err(broken(error));
            }
            match self.body.frame().await {
                Some(frame) => {
                    if let Ok(data) = frame?.into_data() {
                        // What was complete before the damage is given out first.
                        self.failed = self.parser.push(&data).err();
                    }
                }
                None => return self.parser.finish().map(|()| None).map_err(broken),
            }
        }
    }

    /// To be called when nothing of interest can follow: gives the connection back.
    pub(super) fn end(self) {
        self.body.drain();
    }
}

fn broken(error: SseError) -> UpstreamError {
    UpstreamError::Broken(error.to_string())
}

fn decode(event: SseEvent) -> Result<Payload, UpstreamError> {
    if event.data.trim() == "[DONE]" {
        return Ok(Payload::Done);
    }
    match serde_json::from_str(&event.data) {
        Ok(Value::Object(value)) => Ok(Payload::Json { name: event.name, value }),
        Ok(_) => Err(UpstreamError::Broken("an event's data is not a JSON object".to_owned())),
        Err(error) => Err(UpstreamError::Broken(format!("an event's data is not JSON ({error})"))),
    }
}
