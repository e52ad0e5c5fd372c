//! Code under way, and what it says as the body of an answer. Dropping the body drops the execution, which
//! interrupts the code.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use sandgate_core::{Container, Ending, Event, LimitKind};
use sandgate_gate::Running as Execution;
use tokio::time::Instant;

/// Events that are at hand go out together, up to so many bytes.
const TOGETHER: usize = 64 << 10;

/// An execution under way, for as long as somebody reads it.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) execution: Execution,
    pub(super) container: Arc<Container>,
}

/// What a door makes of the events of an execution.
pub(crate) trait Said: Send + 'static {
    /// Adds what is said before anything has happened.
    fn begin(&mut self, _lines: &mut Vec<u8>) {}
    /// Adds the lines for an event; None: there will be no more.
    fn add(&mut self, event: Option<Event>, lines: &mut Vec<u8>);
    /// Adds what says that it goes on.
    fn quiet(&mut self, lines: &mut Vec<u8>);
    /// Whether the last line was made.
    fn is_over(&self) -> bool;
}

/// `pause`: after so long the client hears that it goes on, and the server whether the client is still there.
pub(crate) fn stream<S: Said>(running: Running, said: S, pause: Duration) -> Body {
    let telling = Telling { running, said, pause, heard: None };
    Body::from_stream(stream::unfold(Some(telling), async |telling| {
        let mut telling = telling?;
        let piece = telling.next().await;
        let rest = if telling.said.is_over() { None } else { Some(telling) };
        Some((Ok::<_, Infallible>(piece), rest))
    }))
}

struct Telling<S> {
    running: Running,
    said: S,
    pause: Duration,
    /// When something was last said; None: nothing yet.
    heard: Option<Instant>,
}

impl<S: Said> Telling<S> {
    /// The next lines, never none.
    async fn next(&mut self) -> Bytes {
        let mut lines = Vec::new();
        let heard = self.heard.unwrap_or_else(|| {
            self.said.begin(&mut lines);
            Instant::now()
        });
        let execution = &mut self.running.execution;
        while lines.is_empty() {
            match tokio::time::timeout_at(heard + self.pause, execution.next()).await {
                Ok(event) => self.said.add(event, &mut lines),
                Err(_) => self.said.quiet(&mut lines),
            }
        }
        while !self.said.is_over() && lines.len() < TOGETHER {
            let Some(event) = execution.next_at_hand() else { break };
            self.said.add(Some(event), &mut lines);
        }
        if self.said.is_over() {
            self.running.container.keep_alive();
            self.running.execution.call().ended("completed");
        }
        self.heard = Some(Instant::now());
        lines.into()
    }
}

/// Somebody asked for it; what the code itself raised when it was stopped says the same.
pub(crate) const ABORTED: &str = "ExecutionAborted";
/// It came to no end of its own.
pub(crate) const BROKEN: &str = "UnexpectedEndOfExecution";

/// A name for what ended code from outside. None: it came to its own end.
pub(crate) fn stopped_by(ending: Ending) -> Option<&'static str> {
    match ending {
        Ending::Ok | Ending::Raised => None,
        Ending::Interrupted => Some(ABORTED),
        Ending::TimedOut => Some("TimeoutError"),
        Ending::LimitHit { limit: LimitKind::Memory } => Some("MemoryLimitExceeded"),
        Ending::LimitHit { limit: LimitKind::Output } => Some("OutputLimitExceeded"),
        Ending::LimitHit { limit: LimitKind::Disk } => Some("DiskLimitExceeded"),
        Ending::Signalled { .. } | Ending::Exited { .. } => Some(BROKEN),
    }
}
