//! A connection after its change of protocol: what the server says is searched, and it ends before a value.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::frames::Frames;
use super::search::Search;
use super::unsaid::Unsaid;

/// What is read at once.
const PIECE: usize = 4 << 10;

pub(crate) struct Watched<S> {
    inner: S,
    search: Arc<Search>,
    frames: Frames,
    /// What can be no part of a value any more, and was not taken yet.
    ready: VecDeque<u8>,
    ended: bool,
}

impl<S> Watched<S> {
    pub(crate) fn new(inner: S, unsaid: &Unsaid) -> Self {
        Self::searched(inner, Arc::clone(&unsaid.text))
    }

    fn searched(inner: S, search: Arc<Search>) -> Self {
        Self { inner, search, frames: Frames::default(), ready: VecDeque::new(), ended: false }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let own = &mut *self;
        while own.ready.is_empty() && !own.ended {
            let mut piece = [0; PIECE];
            let mut piece = ReadBuf::new(&mut piece);
            ready!(Pin::new(&mut own.inner).poll_read(cx, &mut piece))?;
            let mut out = Vec::new();
            // What is not whole then stays here: it could be the beginning of a value.
            own.ended = piece.filled().is_empty();
            if let Err(why) = own.frames.push(&own.search, piece.filled(), &mut out) {
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::PermissionDenied, why)));
            }
            own.ready.extend(out);
        }
        let count = own.ready.len().min(buffer.remaining());
        let taken: Vec<u8> = own.ready.drain(..count).collect();
        buffer.put_slice(&taken);
        Poll::Ready(Ok(()))
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
