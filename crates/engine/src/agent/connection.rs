//! The server's end of one operation.

use std::io;
use std::task::{Context, Poll, ready};

use bytes::BytesMut;
use sandgate_agent::protocol::{FromAgent, ToAgent};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

/// How much is read at once.
const READ: usize = 32 << 10;

#[derive(Debug)]
pub(super) struct Connection {
    stream: UnixStream,
    buffer: BytesMut,
}

fn odd(error: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the agent broke the protocol: {error}"))
}

impl Connection {
    pub(super) fn new(stream: UnixStream) -> Self {
        Self { stream, buffer: BytesMut::new() }
    }

    /// None: the agent has hung up. Safe to cancel.
    pub(super) async fn next(&mut self) -> io::Result<Option<FromAgent>> {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }

    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Option<FromAgent>>> {
        loop {
            if let Some(said) = self.buffered()? {
                return Poll::Ready(Ok(Some(said)));
            }
            ready!(self.stream.poll_read_ready(context))?;
            match self.read_now() {
                Ok(0) => return Poll::Ready(Ok(None)),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    /// What it has said by now, without waiting.
    pub(super) fn at_hand(&mut self) -> io::Result<Option<FromAgent>> {
        if let Err(error) = self.read_now()
            && error.kind() != io::ErrorKind::WouldBlock
        {
            return Err(error);
        }
        self.buffered()
    }

    fn buffered(&mut self) -> io::Result<Option<FromAgent>> {
        FromAgent::decode(&mut self.buffer).map_err(odd)
    }

    /// 0: the agent has hung up.
    fn read_now(&mut self) -> io::Result<usize> {
        if self.buffer.capacity() - self.buffer.len() < READ / 4 {
            self.buffer.reserve(READ);
        }
        match self.stream.try_read_buf(&mut self.buffer) {
            // A killed process may leave the socket reset rather than closed.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(0),
            other => other,
        }
    }

    pub(super) async fn say(&mut self, what: &ToAgent) -> io::Result<()> {
        self.stream.write_all(&what.encode()).await
    }

    /// The first frame, read so that no byte behind it is.
    pub(super) async fn only_frame(&mut self) -> io::Result<Option<FromAgent>> {
        loop {
            if let Some(said) = self.buffered()? {
                return Ok(Some(said));
            }
            match self.stream.read_u8().await {
                Ok(byte) => self.buffer.extend_from_slice(&[byte]),
                Err(error) if is_end(error.kind()) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    /// For bytes from here on, after [`Self::only_frame`].
    pub(super) fn into_stream(self) -> UnixStream {
        self.stream
    }
}

fn is_end(error: io::ErrorKind) -> bool {
    matches!(error, io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset)
}
