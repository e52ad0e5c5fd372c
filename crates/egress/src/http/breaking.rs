//! A connection whose end can be told from one that was cut: a length that is not said ends with the connection, and
//! what is missing of it would not be missed.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use rustix::net::{Shutdown, shutdown};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;

use crate::relay::break_off;

/// Says to a connection that is in other hands that it is to end with an error.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cut(Arc<AtomicBool>);

impl Cut {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Release);
    }
}

pub(crate) struct Breaking {
    stream: Arc<TcpStream>,
    cut: Cut,
}

impl Breaking {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self { stream: Arc::new(stream), cut: Cut::default() }
    }

    pub(crate) fn cut(&self) -> Cut {
        self.cut.clone()
    }

    /// When the other side is gone, not just at its end: whoever has said all may wait for an answer, and nobody would
    /// hear that it does not any more.
    pub(crate) fn gone(&self) -> impl Future<Output = ()> + Send + use<> {
        let stream = Arc::clone(&self.stream);
        async move {
            let _ = stream.ready(Interest::ERROR).await;
        }
    }

    /// Waits for who still looks whether it is gone, which is over when this is asked for.
    pub(crate) async fn into_inner(self) -> TcpStream {
        let mut stream = Arc::clone(&self.stream);
        drop(self);
        loop {
            match Arc::try_unwrap(stream) {
                Ok(stream) => return stream,
                Err(shared) => stream = shared,
            }
            tokio::task::yield_now().await;
        }
    }
}

impl Drop for Breaking {
    fn drop(&mut self) {
        if self.cut.0.load(Ordering::Acquire) {
            break_off(&self.stream);
        }
    }
}

/// Tries until it is known, or waits for what `ready` waits for.
fn tried<T>(
    mut ready: impl FnMut() -> Poll<io::Result<()>>,
    mut attempt: impl FnMut() -> io::Result<T>,
) -> Poll<io::Result<T>> {
    loop {
        ready!(ready())?;
        match attempt() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            done => return Poll::Ready(done),
        }
    }
}

impl AsyncRead for Breaking {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        tried(|| self.stream.poll_read_ready(cx), || self.stream.try_read_buf(buffer)).map_ok(drop)
    }
}

impl AsyncWrite for Breaking {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        tried(|| self.stream.poll_write_ready(cx), || self.stream.try_write(bytes))
    }
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        tried(|| self.stream.poll_write_ready(cx), || self.stream.try_write_vectored(pieces))
    }
    fn is_write_vectored(&self) -> bool {
        true
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(shutdown(&*self.stream, Shutdown::Write).map_err(Into::into))
    }
}
