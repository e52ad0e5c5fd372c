//! How long the server waits for the body of a request: one that comes as slowly as can be would hold its
//! connection, and what was read of it, for ever.

use std::time::Duration;

use axum::BoxError;
use axum::body::{Body, BodyDataStream, Bytes};
use futures_util::{StreamExt, stream};
use tokio::time::{Instant, timeout_at};

#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyPatience {
    /// Between two pieces.
    pub(crate) silence: Duration,
    /// For all of it, and a second more for each so many bytes that came.
    pub(crate) at_first: Duration,
    pub(crate) bytes_a_second: u64,
}

impl BodyPatience {
    pub(crate) const USUAL: Self = Self {
        silence: Duration::from_secs(20),
        at_first: Duration::from_secs(30),
        bytes_a_second: 64 << 10,
    };
}

impl Default for BodyPatience {
    fn default() -> Self {
        Self::USUAL
    }
}

/// The error at the end of a body that came too slowly.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the body came too slowly; send it at once")]
pub(crate) struct TooSlow;

impl TooSlow {
    /// Whether this is why reading failed.
    pub(crate) fn is_behind(error: &(dyn std::error::Error + 'static)) -> bool {
        std::iter::successors(Some(error), |error| error.source()).any(<dyn std::error::Error>::is::<Self>)
    }
}

struct Reading {
    body: BodyDataStream,
    patience: BodyPatience,
    started: Instant,
    received: u64,
}

impl Reading {
    async fn next(mut self) -> Option<(Result<Bytes, BoxError>, Option<Self>)> {
        let earned = Duration::from_secs(self.received / self.patience.bytes_a_second.max(1));
        let until =
            (self.started + self.patience.at_first + earned).min(Instant::now() + self.patience.silence);
        match timeout_at(until, self.body.next()).await {
            Ok(Some(Ok(piece))) => {
                self.received += piece.len() as u64;
                Some((Ok(piece), Some(self)))
            }
            Ok(Some(Err(error))) => Some((Err(error.into()), None)),
            Ok(None) => None,
            Err(_) => Some((Err(TooSlow.into()), None)),
        }
    }
}

/// The same body, which ends in an error when it comes too slowly.
pub(crate) fn patient_body(body: Body, patience: BodyPatience) -> Body {
    let reading = Reading { body: body.into_data_stream(), patience, started: Instant::now(), received: 0 };
    Body::from_stream(stream::unfold(Some(reading), async |reading| reading?.next().await))
}
