//! A body that is read piece by piece. The reader of forms takes whatever is there at once and holds
//! it, so it is given one piece at a time, and no more in all than it is allowed.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use axum::body::{Body, BodyDataStream};
use bytes::Bytes;
use futures_util::{Stream, StreamExt};

/// Bytes given at a time.
const PIECE: usize = 64 << 10;

/// How many bytes may still be read; shared with whoever sets it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Allowance(Arc<AtomicU64>);

impl Allowance {
    pub(crate) fn set(&self, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }

    /// Whether there was so much left.
    fn take(&self, bytes: u64) -> bool {
        let left = self.0.load(Ordering::Relaxed);
        self.0.store(left.saturating_sub(bytes), Ordering::Relaxed);
        left >= bytes
    }
}

pub(crate) struct Paced {
    body: BodyDataStream,
    /// What came with the last piece and was not given yet.
    rest: Bytes,
    allowance: Allowance,
    /// A piece was just given; the next one only when asked again.
    resting: bool,
}

impl Paced {
    pub(crate) fn new(body: Body, allowance: Allowance) -> Self {
        Self { body: body.into_data_stream(), rest: Bytes::new(), allowance, resting: false }
    }
}

impl Stream for Paced {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if std::mem::take(&mut self.resting) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        while self.rest.is_empty() {
            match std::task::ready!(self.body.poll_next_unpin(context)) {
                Some(Ok(more)) => self.rest = more,
                Some(Err(error)) => return Poll::Ready(Some(Err(io::Error::other(error)))),
                None => return Poll::Ready(None),
            }
        }
        let length = self.rest.len().min(PIECE);
        if !self.allowance.take(length as u64) {
            return Poll::Ready(Some(Err(io::Error::other("more came than is allowed"))));
        }
        self.resting = true;
        Poll::Ready(Some(Ok(self.rest.split_to(length))))
    }
}
