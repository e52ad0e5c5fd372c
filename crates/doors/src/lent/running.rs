//! Code under way, and what it says as the body of an answer. Dropping the body drops the execution, which
//! interrupts the code.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use sandgate_core::{
    BackendError, Container, Containers, Ending, Event, ExecuteRequest, Execution, KeyLimits, LimitKind,
    Share,
};
use tokio::time::Instant;

/// Events that are at hand go out together, up to so many bytes.
const TOGETHER: usize = 64 << 10;

/// An execution under way, for as long as somebody reads it.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) execution: Execution,
    container: Arc<Container>,
    /// It counts as under way until this is dropped.
    _share: Share,
}

/// The one way by which code of the doors that lend sandboxes starts.
pub(crate) async fn start(
    containers: &Containers,
    container: &Arc<Container>,
    limits: &KeyLimits,
    request: ExecuteRequest,
) -> sandgate_core::Result<Running> {
    let most = limits.executions;
    let share = containers.executions().take(container.owner(), most);
    let share = share.ok_or(BackendError::TooManyExecutions { limit: most.unwrap_or(u32::MAX) })?;
    let execution = container.sandbox_within(limits).await?.execute(request).await?;
    Ok(Running { execution, container: Arc::clone(container), _share: share })
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
        let events = &mut self.running.execution.events;
        while lines.is_empty() {
            match tokio::time::timeout_at(heard + self.pause, events.recv()).await {
                Ok(event) => self.said.add(event, &mut lines),
                Err(_) => self.said.quiet(&mut lines),
            }
        }
        while !self.said.is_over() && lines.len() < TOGETHER {
            let Ok(event) = events.try_recv() else { break };
            self.said.add(Some(event), &mut lines);
        }
        if self.said.is_over() {
            self.running.container.keep_alive();
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
