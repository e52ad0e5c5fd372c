//! A response as it is made, in server-sent events. A comment now and then keeps the connection open
//! while code runs; clients do not see it.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use sandgate_gate::{EventStream, StreamEvent};
use tokio::time::timeout;

/// Proxies close a connection that says nothing for a minute or so.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const COMMENT: Bytes = Bytes::from_static(b": keepalive\n\n");

/// Dropping the answer's body, because the client hung up, drops `events`, which stops the run.
pub(super) fn answer(events: EventStream, headers: HeaderMap) -> Response {
    let frames = stream::unfold(events, async |mut events| {
        let frame = match timeout(KEEP_ALIVE, events.events.recv()).await {
            Ok(Some(event)) => whatever_is_there(&event, &mut events),
            Ok(None) => return None,
            Err(_) => COMMENT,
        };
        Some((Ok::<_, Infallible>(frame), events))
    });
    let mut response = Response::new(Body::from_stream(frames));
    let fields = response.headers_mut();
    *fields = headers;
    fields.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
    fields.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // nginx would hold the events back otherwise.
    fields.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// The event and those that are ready behind it: one write instead of many.
fn whatever_is_there(first: &StreamEvent, events: &mut EventStream) -> Bytes {
    let mut text = String::with_capacity(first.data.len() + 64);
    push(&mut text, first);
    while text.len() < 32 << 10
        && let Ok(event) = events.events.try_recv()
    {
        push(&mut text, &event);
    }
    text.into()
}

fn push(text: &mut String, event: &StreamEvent) {
    // Chat Completions has no names for its events.
    if !event.kind.is_empty() {
        text.push_str("event: ");
        text.push_str(&event.kind);
        text.push('\n');
    }
    text.push_str("data: ");
    text.push_str(&event.data);
    text.push_str("\n\n");
}
