//! The body of an upload: unpacked where it is packed, and remembered why it broke where it broke, which
//! whoever writes it into the sandbox cannot know.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use async_compression::tokio::bufread::GzipDecoder;
use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_ENCODING;
use futures_util::TryStreamExt;
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::io::{ReaderStream, StreamReader};

use super::super::refusal::Refusal;
use crate::patience::TooSlow;

const PIECE: usize = 64 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    None,
    Gzip,
}

impl Packing {
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, Refusal> {
        let Some(value) = headers.get(CONTENT_ENCODING) else { return Ok(Self::None) };
        match value.to_str().unwrap_or("?").trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Ok(Self::None),
            "gzip" | "x-gzip" => Ok(Self::Gzip),
            other => Err(Refusal::invalid(format!("unsupported content encoding '{other}', expected gzip"))),
        }
    }
}

/// The body as it was before it was packed.
pub(super) fn unpacked(body: Body, packing: Packing) -> Body {
    match packing {
        Packing::None => body,
        Packing::Gzip => {
            let packed = StreamReader::new(body.into_data_stream().map_err(io::Error::other));
            let mut decoder = GzipDecoder::new(packed);
            decoder.multiple_members(true);
            Body::from_stream(ReaderStream::with_capacity(decoder, PIECE))
        }
    }
}

/// What is to be written, and why no more of it came.
pub(super) struct Content<R> {
    reader: R,
    broken: Option<Refusal>,
}

impl<R: AsyncRead + Send + Unpin> Content<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, broken: None }
    }

    /// The true reason when writing it failed.
    pub(super) fn why(self, otherwise: Refusal) -> Refusal {
        self.broken.unwrap_or(otherwise)
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
            self.broken = Some(broken(error));
        }
        Poll::Ready(read)
    }
}

pub(super) fn broken(error: &(dyn std::error::Error + 'static)) -> Refusal {
    if TooSlow::is_behind(error) {
        return Refusal::unreadable(error);
    }
    // The innermost says it best: those around it only say that there is one.
    let innermost = std::iter::successors(Some(error), |error| error.source()).last().unwrap_or(error);
    Refusal::invalid(format!("the body cannot be read: {innermost}"))
}
