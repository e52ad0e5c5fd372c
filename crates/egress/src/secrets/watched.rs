//! What a server says after a change of protocol. Values cannot be exchanged in it, as messages have lengths; so the
//! connection ends before one has come through whole.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

pub(crate) struct Watched<S> {
    inner: S,
    forms: Vec<Vec<u8>>,
    /// The end of what has come, which may be the beginning of a value.
    tail: Vec<u8>,
}

impl<S> Watched<S> {
    pub(crate) fn new(inner: S, forms: Vec<Vec<u8>>) -> Self {
        Self { inner, forms, tail: Vec::new() }
    }

    fn is_clean(&mut self, more: &[u8]) -> bool {
        self.tail.extend(more);
        let has = |form: &Vec<u8>| self.tail.windows(form.len()).any(|part| part == form);
        if self.forms.iter().any(has) {
            return false;
        }
        let longest = self.forms.iter().map(Vec::len).max().unwrap_or(1);
        self.tail.drain(..self.tail.len().saturating_sub(longest - 1));
        true
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
        if self.is_clean(&buffer.filled()[before..]) {
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
