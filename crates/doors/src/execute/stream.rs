//! The answer as server-sent events: `container` first, then one event for each of the execution's,
//! `done` last. Closing the connection drops the execution, which interrupts the code.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderValue;
use axum::response::sse::{Event as Sse, KeepAlive, Sse as SseResponse};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt, stream};
use sandgate_core::{BackendError, Container, Event};
use sandgate_gate::Running;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::Refusal;

/// Proxies close a connection that says nothing for a minute or so.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

pub(super) fn answer(container: Arc<Container>, running: Running, cut: CancellationToken) -> Response {
    let first = Sse::default()
        .event("container")
        .data(json!({"type": "container", "id": container.id().as_str()}).to_string());
    let events = stream::iter([first]).chain(following(container, running, cut)).map(Ok::<_, Infallible>);
    let mut response =
        SseResponse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response();
    // nginx would hold the events back otherwise.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// `cut`: the server waits no longer.
fn following(container: Arc<Container>, running: Running, cut: CancellationToken) -> impl Stream<Item = Sse> {
    stream::unfold(Some((container, running, cut)), async |state| {
        let (container, mut running, cut) = state?;
        let event = tokio::select! {
            biased;
            () = cut.cancelled() => {
                running.call().failed("shutting_down");
                return Some((failure(BackendError::ShuttingDown), None));
            }
            event = running.next() => event,
        };
        match event {
            Some(event @ Event::Done { .. }) => {
                container.keep_alive();
                running.call().ended("completed");
                Some((render(&event), None))
            }
            Some(event) => Some((render(&event), Some((container, running, cut)))),
            None => {
                running.call().failed("engine_failed");
                Some((broken_off(), None))
            }
        }
    })
}

fn render(event: &Event) -> Sse {
    match serde_json::to_string(event) {
        Ok(data) => Sse::default().event(name(event)).data(data),
        Err(error) => failure(BackendError::Engine(format!("an event could not be written: {error}"))),
    }
}

fn broken_off() -> Sse {
    failure(BackendError::Engine("the execution broke off without saying how it ended".to_owned()))
}

/// Not `error`: that is the name for code that raised.
fn failure(error: BackendError) -> Sse {
    Sse::default().event("failure").data(Refusal::from(error).body().to_string())
}

/// The same as the `type` in the data.
fn name(event: &Event) -> &'static str {
    match event {
        Event::Started { .. } => "started",
        Event::Stdout { .. } => "stdout",
        Event::Stderr { .. } => "stderr",
        Event::Display { .. } => "display",
        Event::Result { .. } => "result",
        Event::Error(_) => "error",
        Event::Note { .. } => "note",
        Event::Files { .. } => "files",
        Event::Done { .. } => "done",
    }
}
