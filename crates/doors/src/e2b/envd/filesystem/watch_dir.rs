//! `WatchDir`: changes as a stream, for as long as the client listens.

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use tokio::time::{Instant, sleep_until};

use super::super::connect::{Call, Last, too_late};
use super::super::messages::filesystem::{WatchDirResponse, WatchEvent, WatchRequest, WatchStart};
use super::super::refusal::Refusal;
use super::changes::{Changes, NoMore};

struct Watching {
    changes: Changes,
    call: Call,
    deadline: Option<Instant>,
    started: bool,
}

pub(super) async fn watch_dir(
    call: Call,
    ask: WatchRequest,
) -> Result<BoxStream<'static, Result<WatchDirResponse, Last>>, Refusal> {
    let deadline = call.timeout.map(|timeout| Instant::now() + timeout);
    let changes = Changes::of(&call.guest, &ask).await?;
    let watching = Watching { changes, call, deadline, started: false };
    Ok(stream::unfold(Some(watching), async |watching| watching?.next().await).boxed())
}

impl Watching {
    async fn next(mut self) -> Option<(Result<WatchDirResponse, Last>, Option<Self>)> {
        if !self.started {
            self.started = true;
            return Some((Ok(told(WatchEvent::Start(WatchStart {}))), Some(self)));
        }
        let quiet = Instant::now() + self.call.keepalive;
        let deadline = self.deadline;
        let over = async move {
            match deadline {
                Some(deadline) => sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        let event = tokio::select! {
            change = self.changes.next() => match change {
                Ok(event) => WatchEvent::Filesystem(Box::new(event)),
                Err(NoMore::Removed) => return None,
                Err(NoMore::Refused(refusal)) => return Some((Err(Last::Refused(refusal)), None)),
                Err(NoMore::SandboxGone) => return Some((Err(Last::Cut), None)),
            },
            () = over => return Some((Err(Last::Refused(too_late())), None)),
            () = sleep_until(quiet) => WatchEvent::Keepalive(WatchStart {}),
        };
        Some((Ok(told(event)), Some(self)))
    }
}

fn told(event: WatchEvent) -> WatchDirResponse {
    WatchDirResponse { event: Some(event) }
}
