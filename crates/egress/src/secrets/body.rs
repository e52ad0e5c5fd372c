//! A body in which values become placeholders again, however they are cut into pieces.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame};
use hyper::body::Incoming;

use super::passing::Passing;
use super::search::Search;

pub(super) struct Searched {
    inner: Incoming,
    search: Arc<Search>,
    passing: Passing,
    ended: bool,
}

impl Searched {
    pub(super) fn new(inner: Incoming, search: Arc<Search>) -> Self {
        Self { inner, search, passing: Passing::default(), ended: false }
    }
}

impl Body for Searched {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let own = &mut *self;
        loop {
            if own.ended {
                return Poll::Ready(None);
            }
            let mut out = Vec::new();
            match ready!(Pin::new(&mut own.inner).poll_frame(cx)) {
                Some(Ok(frame)) => {
                    // Trailers are left out: few know of them, and they would have to be searched too.
                    let Ok(data) = frame.into_data() else { continue };
                    own.passing.push(&own.search, &data, &mut out);
                }
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => {
                    own.ended = true;
                    own.passing.finish(&own.search, &mut out);
                }
            }
            if !out.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(out.into()))));
            }
        }
    }

    /// An answer without a body must not become one with an empty body: what is said of its length would be untrue.
    fn is_end_stream(&self) -> bool {
        self.ended || (self.passing.is_empty() && self.inner.is_end_stream())
    }
}
