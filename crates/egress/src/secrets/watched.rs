//! What a server says after a change of protocol. Values cannot be exchanged in it, as messages have lengths; so the
//! connection ends before one has come through whole.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::search::{Passing, Search};
use super::unsaid::Unsaid;

pub(crate) struct Watched<S> {
    inner: S,
    search: Arc<Search>,
    passing: Passing,
}

impl<S> Watched<S> {
    pub(crate) fn new(inner: S, unsaid: &Unsaid) -> Self {
        Self::searched(inner, Arc::clone(&unsaid.text))
    }

    fn searched(inner: S, search: Arc<Search>) -> Self {
        Self { inner, search, passing: Passing::default() }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buffer))?;
        let own = &mut *self;
        if !own.passing.has_seen(&own.search, &buffer.filled()[before..]) {
            return Poll::Ready(Ok(()));
        }
        buffer.set_filled(before);
        Poll::Ready(Err(io::Error::new(io::ErrorKind::PermissionDenied, "it repeats a secret")))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
#[path = "watched_tests.rs"]
mod tests;
