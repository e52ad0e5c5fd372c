//! The answer as server-sent events: `container` first, then one event for each of the execution's,
//! `done` last. Closing the connection drops the execution, which interrupts the code.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderValue;
use axum::response::sse::{Event as Sse, KeepAlive, Sse as SseResponse};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt, stream};
use sandgate_core::{BackendError, Container, Event, Execution, Share};
use serde_json::json;

use super::Refusal;

/// Proxies close a connection that says nothing for a minute or so.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// `share` counts the execution as under way for as long as it is.
pub(super) fn answer(container: Arc<Container>, execution: Execution, share: Share) -> Response {
    let first = Sse::default()
        .event("container")
        .data(json!({"type": "container", "id": container.id().as_str()}).to_string());
    let events = stream::iter([first]).chain(following(container, execution, share)).map(Ok::<_, Infallible>);
    let mut response =
        SseResponse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response();
    // nginx would hold the events back otherwise.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

fn following(container: Arc<Container>, execution: Execution, share: Share) -> impl Stream<Item = Sse> {
    stream::unfold(Some((container, execution, share)), async |state| {
        let (container, mut execution, share) = state?;
        match execution.events.recv().await {
            Some(event @ Event::Done { .. }) => {
                container.keep_alive();
                Some((render(&event), None))
            }
            Some(event) => Some((render(&event), Some((container, execution, share)))),
            None => Some((broken_off(), None)),
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
