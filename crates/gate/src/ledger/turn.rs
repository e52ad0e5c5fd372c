//! The record of one turn of a model: who was asked, what it counted, how long it was waited for.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt};
use serde_json::Value;

use super::Call;
use super::call::clipped;
use super::entry::Entry;
use super::exact_millis;
use super::tokens::Tokens;
use crate::upstream::{Asked, Turn, TurnRequest, UpstreamError};

#[derive(Debug)]
pub(crate) struct TurnEntry {
    entry: Entry,
    call: Call,
    asked: Asked,
    tokens: Tokens,
    /// For the answer to begin, and for each of its events.
    waited: Duration,
    has_begun: bool,
    status: Option<&'static str>,
}

impl TurnEntry {
    pub(crate) fn begin(call: &Call, model: Option<&str>, is_streamed: bool) -> Self {
        let mut entry = Entry::new(call, "turn");
        entry.set_model(model.map(|model| clipped(model).to_owned()));
        entry.note("stream", is_streamed);
        entry.begin();
        Self {
            entry,
            call: call.clone(),
            asked: Asked::default(),
            tokens: Tokens::default(),
            waited: Duration::ZERO,
            has_begun: false,
            status: None,
        }
    }

    /// Asks the model, and watches its answer to the end.
    pub(crate) async fn over(
        mut self,
        mut request: TurnRequest,
        ask: impl AsyncFnOnce(TurnRequest) -> Result<Turn, UpstreamError>,
    ) -> Result<Turn, UpstreamError> {
        request.asked = self.asked.clone();
        match ask(request).await {
            Ok(Turn { events, headers }) => {
                self.waited = self.entry.began().elapsed();
                if let Some(id) = headers.get("x-request-id").and_then(|id| id.to_str().ok()) {
                    self.entry.note("upstream_request_id", clipped(id));
                }
                Ok(Turn { events: Watched { events, turn: self, waits: None }.boxed(), headers })
            }
            Err(error) => {
                self.waited = self.entry.began().elapsed();
                self.fail(&error);
                Err(error)
            }
        }
    }

    fn fail(&mut self, error: &UpstreamError) {
        self.status = Some("failed");
        self.entry.note("error", error.word());
        if let UpstreamError::Status { status, .. } = error {
            self.entry.note("http_status", status.as_u16());
        }
    }

    fn event(&mut self, event: &Result<Value, UpstreamError>) {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.entry.note("first_event_ms", exact_millis(self.entry.began().elapsed()));
        }
        match event {
            Ok(event) => self.look(event),
            Err(error) => self.fail(error),
        }
    }

    /// At a Responses event, or a chunk of a completion.
    fn look(&mut self, event: &Value) {
        let text = |value: &'_ Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let place = match event.get("type").and_then(Value::as_str) {
            Some("response.completed") => self.over_as("completed", event.get("response")),
            Some("response.incomplete") => self.over_as("incomplete", event.get("response")),
            Some("response.failed") => self.over_as("failed", event.get("response")),
            Some("error") => self.over_as("failed", None),
            Some(_) => return,
            None => {
                if event.get("error").is_some_and(|error| !error.is_null()) {
                    self.over_as("failed", None);
                }
                let choice = event.get("choices").and_then(|choices| choices.get(0));
                if let Some(finish) = choice.and_then(|choice| text(choice, "finish_reason")) {
                    let is_cut = matches!(finish.as_str(), "length" | "content_filter");
                    self.over_as(if is_cut { "incomplete" } else { "completed" }, None);
                }
                Some(event)
            }
        };
        if let Some(usage) = place.and_then(|place| place.get("usage")).filter(|usage| usage.is_object()) {
            self.tokens = Tokens::of(usage);
        }
    }

    fn over_as<'a>(&mut self, status: &'static str, place: Option<&'a Value>) -> Option<&'a Value> {
        // An error may be followed by more.
        self.status.get_or_insert(status);
        place
    }
}

impl Drop for TurnEntry {
    fn drop(&mut self) {
        let (upstream, model) = self.asked.get();
        self.entry.note("upstream", upstream);
        self.entry.note("upstream_model", model.as_deref().map(clipped));
        self.entry.note("tokens", self.tokens.to_value());
        self.entry.note("duration_ms", exact_millis(self.waited));
        self.call.add_turn(self.waited, &self.tokens);
        self.entry.end(self.status.unwrap_or(super::entry::CANCELLED));
    }
}

/// Events of a turn on their way; waiting for the next one is waiting for the model.
struct Watched {
    events: BoxStream<'static, Result<Value, UpstreamError>>,
    turn: TurnEntry,
    waits: Option<Instant>,
}

impl Stream for Watched {
    type Item = Result<Value, UpstreamError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let polled = this.events.poll_next_unpin(context);
        if polled.is_pending() {
            this.waits.get_or_insert_with(Instant::now);
        } else if let Some(since) = this.waits.take() {
            this.turn.waited += since.elapsed();
        }
        if let Poll::Ready(Some(event)) = &polled {
            this.turn.event(event);
        }
        polled
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(since) = self.waits.take() {
            self.turn.waited += since.elapsed();
        }
    }
}
