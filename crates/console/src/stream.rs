//! Answers that go on: events for a script of ours, as server-sent events. What makes them is a task that ends
//! when nobody listens any more.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderValue;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::Console;

/// Proxies close a connection that says nothing for a minute or so.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Events that wait for a browser that reads slowly; then the code waits too.
const AHEAD: usize = 64;

/// And bytes; one event of any size may always wait.
const AHEAD_BYTES: usize = 4 << 20;

/// One that waits, and the room that it takes.
type Waiting = (String, OwnedSemaphorePermit);

/// Where a task says what happens.
#[derive(Clone, Debug)]
pub(crate) struct Teller(mpsc::Sender<Waiting>, Arc<Semaphore>);

/// Nobody listens any more.
#[derive(Debug)]
pub(crate) struct Gone;

impl Teller {
    pub(crate) async fn tell(&self, event: &Value) -> Result<(), Gone> {
        self.tell_text(event.to_string()).await
    }

    /// One event, as JSON on one line.
    pub(crate) async fn tell_text(&self, event: String) -> Result<(), Gone> {
        let size = u32::try_from(event.len().min(AHEAD_BYTES)).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.1).acquire_many_owned(size).await.map_err(|_| Gone)?;
        self.0.send((event, room)).await.map_err(|_| Gone)
    }
}

/// Dropped where it stands when the browser leaves, or the server waits no longer.
pub(crate) fn answer<F>(console: &Console, work: impl FnOnce(Teller) -> F) -> Response
where
    F: Future<Output = Result<(), Gone>> + Send + 'static,
{
    let (sender, receiver) = mpsc::channel(AHEAD);
    let room = Arc::new(Semaphore::new(AHEAD_BYTES));
    let (work, cut) = (work(Teller(sender.clone(), room)), console.parts().gate.cut());
    console.parts().tasks.spawn(async move {
        tokio::select! {
            _ = work => {}
            () = sender.closed() => {}
            () = cut.cancelled() => {}
        }
    });
    let events = stream::unfold(receiver, async |mut receiver: mpsc::Receiver<Waiting>| {
        let (data, _room) = receiver.recv().await?;
        Some((Ok::<_, Infallible>(Event::default().data(data)), receiver))
    });
    let mut response = Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response();
    // nginx would hold the events back otherwise.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
