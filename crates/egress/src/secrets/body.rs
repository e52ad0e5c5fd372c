//! A body in which values become placeholders again, however they are cut into pieces.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame};
use hyper::body::Incoming;

/// Values and what stands for them.
pub(super) type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

pub(super) struct Searched {
    inner: Incoming,
    pairs: Pairs,
    /// The end of what has come, which may be the beginning of a value.
    held: Vec<u8>,
    ended: bool,
}

impl Searched {
    pub(super) fn new(inner: Incoming, pairs: Pairs) -> Self {
        Self { inner, pairs, held: Vec::new(), ended: false }
    }
}

pub(super) fn replaced(bytes: &[u8], pairs: &Pairs) -> Vec<u8> {
    let (mut out, rest) = passed(bytes, pairs, true);
    out.extend(rest);
    out
}

/// What can be sent on, with values replaced, and what must wait for more.
fn passed(bytes: &[u8], pairs: &Pairs, last: bool) -> (Vec<u8>, Vec<u8>) {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        if let Some((value, stands)) = pairs.iter().find(|(value, _)| rest.starts_with(value)) {
            out.extend(stands);
            at += value.len();
        } else if !last && pairs.iter().any(|(value, _)| value.starts_with(rest)) {
            break;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    (out, bytes[at..].to_vec())
}

impl Body for Searched {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        loop {
            if self.ended {
                return Poll::Ready(None);
            }
            let frame = match ready!(Pin::new(&mut self.inner).poll_frame(cx)) {
                Some(Ok(frame)) => frame,
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => {
                    self.ended = true;
                    let held = std::mem::take(&mut self.held);
                    let rest = replaced(&held, &self.pairs);
                    return Poll::Ready((!rest.is_empty()).then(|| Ok(Frame::data(rest.into()))));
                }
            };
            // Trailers are left out: few know of them, and they would have to be searched too.
            let Ok(data) = frame.into_data() else { continue };
            let mut bytes = std::mem::take(&mut self.held);
            bytes.extend(&data);
            let (out, held) = passed(&bytes, &self.pairs, false);
            self.held = held;
            if !out.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(out.into()))));
            }
        }
    }
}

#[cfg(test)]
#[path = "body_tests.rs"]
mod tests;
