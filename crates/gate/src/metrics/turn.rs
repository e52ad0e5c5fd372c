//! One turn of a model as it is watched: from the question to its last event.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use futures_util::{Stream, StreamExt};
use opentelemetry::KeyValue;
use opentelemetry::trace::SpanKind;
use serde_json::Value;

use super::outside::{Outside, Place};
use super::span::Span;
use super::watch::clipped;
use super::{Metrics, Watch};
use crate::upstream::{Turn, TurnRequest, UpstreamError};

#[derive(Debug)]
pub(crate) struct TurnWatch(Option<Watched>);

#[derive(Debug)]
struct Watched {
    watch: Watch,
    metrics: Metrics,
    model: String,
    began: Instant,
    span: Span,
    seen: Seen,
}

/// What its events told.
#[derive(Debug, Default)]
struct Seen {
    usage: Option<Value>,
    model: Option<String>,
    id: Option<String>,
    finish: Option<String>,
    failure: Option<&'static str>,
    is_over: bool,
}

impl TurnWatch {
    pub(super) fn unwatched() -> Self {
        Self(None)
    }

    pub(super) fn begin(watch: Watch, metrics: &Metrics, parent: &Span, model: Option<&str>) -> Self {
        let model = clipped(model.unwrap_or_default()).to_owned();
        let attributes = vec![
            KeyValue::new("gen_ai.operation.name", "chat"),
            KeyValue::new("gen_ai.provider.name", "openai"),
            KeyValue::new("gen_ai.request.model", model.clone()),
        ];
        let tracer = metrics.0.tracer.as_ref();
        let name = format!("chat {}", metrics.0.models.label(&model));
        let span = parent.child(tracer, name, SpanKind::Client, attributes);
        let (began, seen) = (Instant::now(), Seen::default());
        Self(Some(Watched { watch, metrics: metrics.clone(), model, began, span, seen }))
    }

    /// Asks the model, and watches its answer to the end.
    pub(crate) async fn over(
        mut self,
        mut request: TurnRequest,
        ask: impl AsyncFnOnce(TurnRequest) -> Result<Turn, UpstreamError>,
    ) -> Result<Turn, UpstreamError> {
        let Some(watched) = &mut self.0 else { return ask(request).await };
        if let Some(headers) = watched.span.trace_headers() {
            request.credentials.trace(&headers);
        }
        let waits = watched.watch.outside(Place::Model);
        match ask(request).await {
            Ok(Turn { events, headers }) => {
                drop(waits);
                Ok(Turn { events: WatchedEvents { events, turn: self, waits: None }.boxed(), headers })
            }
            Err(error) => {
                watched.seen.failure = Some(error.word());
                Err(error)
            }
        }
    }
}

impl Watched {
    fn event(&mut self, event: &Result<Value, UpstreamError>) {
        match event {
            Ok(event) => self.seen.event(event),
            Err(error) => self.seen.failure = Some(error.word()),
        }
    }
}

impl Seen {
    /// Of a Responses event or of a chunk of a completion.
    fn event(&mut self, event: &Value) {
        let text = |value: &Value, name: &str| {
            value.get(name).and_then(Value::as_str).map(|text| clipped(text).to_owned())
        };
        let kind = event.get("type").and_then(Value::as_str);
        let place = match kind {
            // The last event of a turn; those between tell nothing that is of use here.
            Some("response.completed" | "response.incomplete" | "response.failed") => {
                let response = event.get("response").unwrap_or(&Value::Null);
                self.finish = text(response, "status");
                if kind == Some("response.failed") {
                    self.failure = Some("failed");
                }
                self.is_over = true;
                response
            }
            Some("error") => {
                self.failure = Some("failed");
                return;
            }
            Some(_) => return,
            None => {
                if event.get("error").is_some_and(|error| !error.is_null()) {
                    self.failure = Some("failed");
                }
                let choice = event.get("choices").and_then(|choices| choices.get(0));
                if let Some(finish) = choice.and_then(|choice| text(choice, "finish_reason")) {
                    self.finish = Some(finish);
                    self.is_over = true;
                }
                event
            }
        };
        if let Some(usage) = place.get("usage").filter(|usage| usage.is_object()) {
            self.usage = Some(usage.clone());
        }
        if self.id.is_none() {
            (self.id, self.model) = (text(place, "id"), text(place, "model"));
        }
    }

    /// By either API's words.
    fn tokens(&self, names: [&str; 2], detail: Option<&str>) -> Option<u64> {
        let usage = self.usage.as_ref()?;
        names.iter().find_map(|name| match detail {
            Some(detail) => usage.get(format!("{name}_details"))?.get(detail)?.as_u64(),
            None => usage.get(*name)?.as_u64(),
        })
    }
}

const INPUT: [&str; 2] = ["input_tokens", "prompt_tokens"];
const OUTPUT: [&str; 2] = ["output_tokens", "completion_tokens"];

impl Drop for Watched {
    fn drop(&mut self) {
        let Self { metrics, model, seen, .. } = self;
        let outcome = match seen.failure {
            Some(_) => "failed",
            None if seen.is_over => "ok",
            // The client left, or a limit ended it.
            None => "cut_off",
        };
        // A model that answers is one there is.
        if outcome == "ok" {
            metrics.0.models.add(model);
        }
        let label = metrics.0.models.label(model);
        self.span.rename(format!("chat {label}"));
        let families = &metrics.0.families;
        families.turns.get_or_create(&[("model", label.clone()), ("outcome", outcome.into())]).inc();
        let took = self.began.elapsed().as_secs_f64();
        families.turn_durations.get_or_create(&[("model", label.clone())]).observe(took);
        let (input, output) = (seen.tokens(INPUT, None), seen.tokens(OUTPUT, None));
        let kinds = [
            ("input", input),
            ("output", output),
            ("input_cached", seen.tokens(INPUT, Some("cached_tokens"))),
            ("output_reasoning", seen.tokens(OUTPUT, Some("reasoning_tokens"))),
        ];
        for (kind, count) in kinds {
            if let Some(count) = count {
                families
                    .tokens
                    .get_or_create(&[("model", label.clone()), ("kind", kind.into())])
                    .inc_by(count);
            }
        }
        let failure = seen.failure.or((outcome == "cut_off").then_some("cut_off"));
        self.span.set(|| {
            let number = |name, count: Option<u64>| {
                count.map(|count| KeyValue::new(name, i64::try_from(count).unwrap_or(i64::MAX)))
            };
            let text = |name, text: &Option<String>| text.clone().map(|text| KeyValue::new(name, text));
            let finish = seen.finish.clone().map(|finish| {
                let reasons = vec![opentelemetry::StringValue::from(finish)];
                KeyValue::new("gen_ai.response.finish_reasons", opentelemetry::Value::Array(reasons.into()))
            });
            [
                number("gen_ai.usage.input_tokens", input),
                number("gen_ai.usage.output_tokens", output),
                text("gen_ai.response.model", &seen.model),
                text("gen_ai.response.id", &seen.id),
                finish,
            ]
            .into_iter()
            .flatten()
            .collect()
        });
        self.span.end(failure);
    }
}

/// Events of a turn on their way; waiting for the next one is waiting for the model.
struct WatchedEvents<S> {
    events: S,
    turn: TurnWatch,
    waits: Option<Outside>,
}

impl<S: Stream<Item = Result<Value, UpstreamError>> + Unpin> Stream for WatchedEvents<S> {
    type Item = Result<Value, UpstreamError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let polled = this.events.poll_next_unpin(context);
        let Some(watched) = &mut this.turn.0 else { return polled };
        match &polled {
            Poll::Pending => {
                this.waits.get_or_insert_with(|| watched.watch.outside(Place::Model));
            }
            Poll::Ready(Some(event)) => {
                this.waits = None;
                watched.event(event);
            }
            Poll::Ready(None) => this.waits = None,
        }
        polled
    }
}
