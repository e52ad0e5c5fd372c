//! A connection to the outside whose bytes are counted and paid for.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use sandgate_core::network::NetworkLimits;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use crate::meter::{Counts, Meter};

/// Bytes that pass at once even where a second has few.
const SLOWEST_PIECE: u64 = 4 << 10;

/// Reading from it is receiving, writing to it is sending.
pub(crate) struct Metered<S> {
    inner: S,
    counts: Arc<Counts>,
    pace: Pace,
}

impl<S> Metered<S> {
    pub(crate) fn new(inner: S, meter: Arc<Meter>, counts: Arc<Counts>, limits: NetworkLimits) -> Self {
        Self { inner, counts, pace: Pace::new(meter, limits) }
    }

    fn passed(&mut self, bytes: usize, counter: impl Fn(&Counts) -> &AtomicU64) {
        let bytes = bytes as u64;
        counter(&self.counts).fetch_add(bytes, Ordering::Relaxed);
        self.pace.passed(bytes);
    }
}

/// Keeps what passes to what the sandbox may have.
pub(crate) struct Pace {
    meter: Arc<Meter>,
    limits: NetworkLimits,
    /// Runs while the sandbox has been faster than it may be.
    debt: Option<Pin<Box<Sleep>>>,
}

impl Pace {
    pub(crate) fn new(meter: Arc<Meter>, limits: NetworkLimits) -> Self {
        Self { meter, limits, debt: None }
    }

    pub(crate) fn may_go_on(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(debt) = &mut self.debt {
            ready!(debt.as_mut().poll(cx));
            self.debt = None;
        }
        Poll::Ready(self.left().map(drop))
    }

    /// Never none: that is an error.
    fn left(&self) -> io::Result<Option<u64>> {
        let left = self.limits.bytes.map(|limit| limit.saturating_sub(self.meter.spent()));
        match left {
            Some(0) => Err(io::Error::new(io::ErrorKind::QuotaExceeded, "the sandbox's bytes are used up")),
            left => Ok(left),
        }
    }

    /// How many bytes may pass now, of at most `most`; waits while there are none.
    pub(crate) async fn room(&mut self, most: usize) -> io::Result<usize> {
        poll_fn(|cx| self.may_go_on(cx)).await?;
        let left = self.left()?;
        // Small enough that what is slow is steady too.
        let steady = self.limits.bytes_per_second.map(|speed| (speed / 10).max(SLOWEST_PIECE));
        let room = [left, steady].into_iter().flatten().fold(most as u64, u64::min);
        Ok(usize::try_from(room).unwrap_or(most))
    }

    pub(crate) fn passed(&mut self, bytes: u64) {
        if let Some(wait) = self.meter.take(bytes, self.limits.bytes_per_second) {
            self.debt = Some(Box::pin(sleep(wait.min(Duration::from_secs(60)))));
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.pace.may_go_on(cx))?;
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buffer))?;
        let read = buffer.filled().len() - before;
        self.passed(read, |counts| &counts.received);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.pace.may_go_on(cx))?;
        let written = ready!(Pin::new(&mut self.inner).poll_write(cx, bytes))?;
        self.passed(written, |counts| &counts.sent);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
