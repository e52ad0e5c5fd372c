//! A connection that ends itself when its other side takes nothing of what waits to be sent: an answer that
//! nobody reads would stay in memory for ever. Silence is fine as long as nothing waits.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

#[derive(Debug)]
pub(crate) struct EndWhenStalled<C> {
    connection: C,
    patience: Duration,
    /// Runs while something waits.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<C> EndWhenStalled<C> {
    pub(crate) fn new(connection: C, patience: Duration) -> Self {
        Self { connection, patience, waiting: None }
    }

    /// Passes on what an attempt to send came to, unless it has waited for too long.
    fn within_patience<T>(
        &mut self,
        context: &mut Context<'_>,
        sent: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if sent.is_ready() {
            self.waiting = None;
            return sent;
        }
        let patience = self.patience;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(patience)));
        ready!(waiting.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read the answer")))
    }
}

impl<C: AsyncRead + Unpin> AsyncRead for EndWhenStalled<C> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_read(context, buffer)
    }
}

impl<C: AsyncWrite + Unpin> AsyncWrite for EndWhenStalled<C> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.connection).poll_write(context, bytes);
        self.within_patience(context, sent)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.connection).poll_write_vectored(context, parts);
        self.within_patience(context, sent)
    }

    fn is_write_vectored(&self) -> bool {
        self.connection.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let sent = Pin::new(&mut self.connection).poll_flush(context);
        self.within_patience(context, sent)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let sent = Pin::new(&mut self.connection).poll_shutdown(context);
        self.within_patience(context, sent)
    }
}
