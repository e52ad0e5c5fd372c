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
use tokio_util::sync::WaitForCancellationFutureOwned;

use crate::meter::{Answer, Counts, Meter};

/// Who waits asks again after this at the latest.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

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

    fn passed(&mut self, granted: u64, bytes: usize, counter: impl Fn(&Counts) -> &AtomicU64) {
        let bytes = bytes as u64;
        counter(&self.counts).fetch_add(bytes, Ordering::Relaxed);
        self.pace.settle(granted, bytes);
    }
}

/// Keeps what passes to what the sandbox may have.
pub(crate) struct Pace {
    meter: Arc<Meter>,
    limits: NetworkLimits,
    /// Runs while the sandbox has been faster than it may be.
    waiting: Option<Pin<Box<Sleep>>>,
    /// Wakes who waits for bytes of which none may come any more.
    used_up: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
}

impl Pace {
    pub(crate) fn new(meter: Arc<Meter>, limits: NetworkLimits) -> Self {
        Self { meter, limits, waiting: None, used_up: None }
    }

    /// How many bytes may pass now, of at most `most`; to be settled at once, before anything is waited for.
    pub(crate) fn poll_grant(&mut self, cx: &mut Context<'_>, most: usize) -> Poll<io::Result<u64>> {
        loop {
            if let Some(waiting) = &mut self.waiting {
                ready!(waiting.as_mut().poll(cx));
                self.waiting = None;
            }
            match self.meter.ask(most as u64, &self.limits) {
                Answer::Granted(granted) => return Poll::Ready(Ok(granted)),
                Answer::Wait(wait) => self.waiting = Some(Box::pin(sleep(wait.min(LONGEST_WAIT)))),
                Answer::UsedUp => return Poll::Ready(Err(used_up())),
            }
        }
    }

    /// The same, to be waited for.
    pub(crate) async fn grant(&mut self, most: usize) -> io::Result<usize> {
        let granted = poll_fn(|cx| self.poll_grant(cx, most)).await?;
        Ok(usize::try_from(granted).unwrap_or(most))
    }

    /// What became of a grant.
    pub(crate) fn settle(&mut self, granted: u64, passed: u64) {
        self.meter.settle(granted, passed, &self.limits);
    }

    /// For pieces whose length is known only when they are there.
    pub(crate) fn may_go_on(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let granted = ready!(self.poll_grant(cx, 1))?;
        self.settle(granted, 0);
        Poll::Ready(Ok(()))
    }

    pub(crate) fn passed(&mut self, bytes: u64) {
        self.settle(0, bytes);
    }

    /// An error once nothing may pass any more, and a wake for who would else wait for nothing.
    fn poll_used_up(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        if self.limits.bytes.is_none() {
            return Ok(());
        }
        let meter = &self.meter;
        let ends = self.used_up.get_or_insert_with(|| Box::pin(meter.used_up().clone().cancelled_owned()));
        match ends.as_mut().poll(cx) {
            Poll::Ready(()) => Err(used_up()),
            Poll::Pending => Ok(()),
        }
    }
}

pub(crate) fn used_up() -> io::Error {
    io::Error::new(io::ErrorKind::QuotaExceeded, "the sandbox's bytes are used up")
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let granted = ready!(self.pace.poll_grant(cx, buffer.remaining()))?;
        let before = buffer.filled().len();
        let most = usize::try_from(granted).unwrap_or(usize::MAX);
        let polled = if most >= buffer.remaining() {
            Pin::new(&mut self.inner).poll_read(cx, buffer)
        } else {
            let mut piece = ReadBuf::new(buffer.initialize_unfilled_to(most));
            let polled = Pin::new(&mut self.inner).poll_read(cx, &mut piece);
            let read = piece.filled().len();
            buffer.advance(read);
            polled
        };
        self.passed(granted, buffer.filled().len() - before, |counts| &counts.received);
        if polled.is_pending() {
            self.pace.poll_used_up(cx)?;
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let granted = ready!(self.pace.poll_grant(cx, bytes.len()))?;
        let piece = &bytes[..usize::try_from(granted).unwrap_or(usize::MAX).min(bytes.len())];
        let polled = Pin::new(&mut self.inner).poll_write(cx, piece);
        let written = if let Poll::Ready(Ok(written)) = &polled { *written } else { 0 };
        self.passed(granted, written, |counts| &counts.sent);
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
#[path = "metered_tests.rs"]
mod tests;
