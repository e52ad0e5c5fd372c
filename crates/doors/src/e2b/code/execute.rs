//! Runs code and answers with what it says while it says it. Closing the connection drops the execution, which
//! interrupts the code.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use sandgate_core::{BackendError, Container, ExecuteRequest, Execution, Share};

use super::super::Door;
use super::super::route::Target;
use super::Refusal;
use super::items::Items;
use super::request::{ExecuteBody, read};

/// After so long a silence the client hears that it goes on; and the server, whether the client is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// Events that are at hand go out together, up to so many bytes.
const TOGETHER: usize = 64 << 10;

pub(super) async fn execute(
    State(door): State<Door>,
    target: Target,
    request: Request,
) -> Result<Response, Refusal> {
    let request = read::<ExecuteBody>(&door, request).await?.into_request()?;
    let running = start(&door, &target, request).await.map_err(Refusal::of(&target.lease.id))?;
    let headers = [
        (CONTENT_TYPE, "application/x-ndjson"),
        (CACHE_CONTROL, "no-store"),
        // nginx would hold the lines back otherwise.
        (axum::http::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    let pieces = stream::unfold(Some(running), async |running| {
        let mut running = running?;
        let piece = running.next().await;
        let rest = if running.items.are_over() { None } else { Some(running) };
        Some((Ok::<_, Infallible>(piece), rest))
    });
    Ok((headers, Body::from_stream(pieces)).into_response())
}

/// The one way by which code of this door starts.
async fn start(door: &Door, target: &Target, request: ExecuteRequest) -> sandgate_core::Result<Running> {
    let most = target.limits().executions;
    let share = door.containers.executions().take(&target.lease.owner, most);
    let share = share.ok_or(BackendError::TooManyExecutions { limit: most.unwrap_or(u32::MAX) })?;
    let execution = target.sandbox().await?.execute(request).await?;
    let container = Arc::clone(&target.container);
    Ok(Running { execution, items: Items::default(), container, _share: share })
}

/// An execution under way, for as long as somebody reads it.
#[derive(Debug)]
struct Running {
    execution: Execution,
    items: Items,
    container: Arc<Container>,
    /// It counts as under way until this is dropped.
    _share: Share,
}

impl Running {
    /// The next lines, never none.
    async fn next(&mut self) -> Bytes {
        let mut lines = Vec::new();
        while lines.is_empty() {
            match tokio::time::timeout(KEEP_ALIVE, self.execution.events.recv()).await {
                Ok(event) => self.items.add(event, &mut lines),
                Err(_) => Items::keep_alive(&mut lines),
            }
        }
        while !self.items.are_over() && lines.len() < TOGETHER {
            let Ok(event) = self.execution.events.try_recv() else { break };
            self.items.add(Some(event), &mut lines);
        }
        if self.items.are_over() {
            self.container.keep_alive();
        }
        lines.into()
    }
}
