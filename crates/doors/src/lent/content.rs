//! The body of an upload, which remembers why it broke where it broke: whoever writes it into the sandbox cannot
//! know.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

use crate::patience::TooSlow;

/// Why no more of a body came.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Broken {
    #[error("{}", TooSlow)]
    TooSlow,
    #[error("the body cannot be read: {0}")]
    Unreadable(String),
}

impl Broken {
    pub(crate) fn of(error: &(dyn std::error::Error + 'static)) -> Self {
        if TooSlow::is_behind(error) {
            return Self::TooSlow;
        }
        // The innermost says it best: those around it only say that there is one.
        let innermost = std::iter::successors(Some(error), |error| error.source()).last().unwrap_or(error);
        Self::Unreadable(innermost.to_string())
    }
}

pub(crate) struct Content<R> {
    reader: R,
    broken: Option<Broken>,
}

impl<R: AsyncRead + Send + Unpin> Content<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, broken: None }
    }

    /// The true reason when writing it failed, if it lies here.
    pub(crate) fn broken(self) -> Option<Broken> {
        self.broken
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Content<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = ready!(Pin::new(&mut self.reader).poll_read(context, buffer));
        if let Err(error) = &read {
            self.broken = Some(Broken::of(error));
        }
        Poll::Ready(read)
    }
}
