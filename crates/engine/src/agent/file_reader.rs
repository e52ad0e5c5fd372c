//! The bytes of a file that an agent reads.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use sandgate_agent::protocol::FromAgent;
use tokio::io::{AsyncRead, ReadBuf};

use super::connection::Connection;

/// Ends well only when the agent said that this was all.
#[derive(Debug)]
pub(super) struct FileReader {
    connection: Connection,
    at_hand: Bytes,
    whole: bool,
}

impl FileReader {
    pub(super) fn new(connection: Connection) -> Self {
        Self { connection, at_hand: Bytes::new(), whole: false }
    }
}

impl AsyncRead for FileReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while self.at_hand.is_empty() && !self.whole {
            match ready!(self.connection.poll_next(context))? {
                Some(FromAgent::Data(bytes)) => self.at_hand = bytes,
                Some(FromAgent::Done) => self.whole = true,
                Some(FromAgent::Failed(failure)) => return Poll::Ready(Err(io::Error::other(failure.text))),
                Some(_) | None => return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
            }
        }
        let length = buffer.remaining().min(self.at_hand.len());
        buffer.put_slice(&self.at_hand[..length]);
        self.at_hand.advance(length);
        Poll::Ready(Ok(()))
    }
}
