//! The first bytes of a connection: read to see what it speaks, and sent on as they came.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::time::{Instant, timeout_at};

use crate::hello::{Hello, read_hello};
use crate::request_line::{self, Line};

/// What a connection from inside turned out to speak.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Speaks {
    Tls(Option<String>),
    Http,
    /// A request, but of a protocol that is not read here, and that some servers answer as if it were one of HTTP.
    Foreign,
    Other,
    /// It has begun with what may become a request, and waits.
    Unclear,
}

/// What the bytes so far say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Judged {
    Clear(Speaks),
    Broken,
    Begins(Begins),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begins {
    Tls,
    Request,
    /// Most likely something else.
    Anything,
}

/// Who begins to send but does not finish its first message is not waited for any longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
const LONGEST: usize = 48 << 10;

pub(crate) fn judge(head: &[u8]) -> Judged {
    let begins = match read_hello(head) {
        Hello::Tls(name) => return Judged::Clear(Speaks::Tls(name)),
        Hello::Broken => return Judged::Broken,
        Hello::More if head.len() >= LONGEST => return Judged::Broken,
        Hello::More => Begins::Tls,
        Hello::Other => match request_line::read(head) {
            Line::Request => return Judged::Clear(Speaks::Http),
            Line::Foreign => return Judged::Clear(Speaks::Foreign),
            Line::Broken => return Judged::Broken,
            Line::Other => return Judged::Clear(Speaks::Other),
            Line::Unclear { likely: true } => Begins::Request,
            Line::Unclear { likely: false } => Begins::Anything,
        },
    };
    Judged::Begins(begins)
}

/// Whether a server that takes an end for the end of a line could take this for a request.
pub(crate) fn ends_as_request(head: &[u8]) -> bool {
    read_hello(head) == Hello::Other
        && matches!(request_line::read_last(head), Line::Request | Line::Foreign | Line::Broken)
}

/// A stream with bytes that were read from it already in front.
pub(crate) struct Replayed<S> {
    head: Vec<u8>,
    sent: usize,
    inner: S,
}

impl<S> Replayed<S> {
    pub(crate) fn new(head: Vec<u8>, inner: S) -> Self {
        Self { head, sent: 0, inner }
    }

    /// What was read so far.
    pub(crate) fn seen(&self) -> &[u8] {
        &self.head
    }

    /// What was read and not sent on, and the stream.
    pub(crate) fn into_parts(mut self) -> (Vec<u8>, S) {
        self.head.drain(..self.sent);
        (self.head, self.inner)
    }
}

impl<S: AsyncRead + Unpin> Replayed<S> {
    /// Whether nothing was read yet.
    pub(crate) fn is_untouched(&self) -> bool {
        self.head.is_empty()
    }

    /// Reads until it is clear what is spoken, or until what may become a request has paused for as long as `pause`.
    /// Broken first messages are errors. Who says nothing is waited for as long as that lasts: whatever comes after a
    /// pause has to be looked at like what comes at once.
    pub(crate) async fn look(&mut self, pause: Duration) -> io::Result<Speaks> {
        if self.head.is_empty() && self.inner.read_buf(&mut self.head).await? == 0 {
            return Ok(Speaks::Other);
        }
        let last = Instant::now() + PATIENCE;
        loop {
            let begins = match judge(&self.head) {
                Judged::Clear(found) => return Ok(found),
                Judged::Broken => return Err(io::ErrorKind::InvalidData.into()),
                Judged::Begins(begins) => begins,
            };
            let until = match begins {
                Begins::Tls => last,
                // What may be something else passes, and is looked at on its way.
                _ if self.head.len() >= LONGEST && pause < PATIENCE => return Ok(Speaks::Unclear),
                _ if self.head.len() >= LONGEST => return Err(io::ErrorKind::InvalidData.into()),
                Begins::Request => last.min(Instant::now() + pause),
                Begins::Anything if pause < PATIENCE => return Ok(Speaks::Unclear),
                Begins::Anything => last,
            };
            match timeout_at(until, self.inner.read_buf(&mut self.head)).await {
                Ok(read) => {
                    if read? == 0 {
                        return match ends_as_request(&self.head) {
                            true => Err(io::ErrorKind::InvalidData.into()),
                            false => Ok(Speaks::Other),
                        };
                    }
                }
                Err(_) if begins == Begins::Tls => return Err(io::ErrorKind::TimedOut.into()),
                Err(_) => return Ok(Speaks::Unclear),
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Replayed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.sent < self.head.len() {
            let count = buffer.remaining().min(self.head.len() - self.sent);
            buffer.put_slice(&self.head[self.sent..self.sent + count]);
            self.sent += count;
            if self.sent == self.head.len() {
                self.head = Vec::new();
                self.sent = 0;
            }
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.inner).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Replayed<S> {
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
#[path = "first_tests.rs"]
mod tests;
