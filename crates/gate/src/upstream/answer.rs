//! The body of an upstream's answer: bytes as they come, with a bound on the silence between them.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::Sleep;

use super::UpstreamError;
use super::renamed_answer::Renamer;

type Incame = Result<Frame<Bytes>, hyper::Error>;

/// How long the rest of an answer that nobody needs may take, before its connection is given up.
const DRAIN_LIMIT: Duration = Duration::from_secs(2);

/// Dropped before its end, it closes the connection.
pub struct AnswerBody {
    incoming: Incoming,
    limit: Duration,
    /// Runs only while we wait: an answer that is already there sets no timer.
    silence: Option<Pin<Box<Sleep>>>,
    renamer: Option<Renamer>,
}

impl AnswerBody {
    pub(super) fn new(incoming: Incoming, limit: Duration) -> Self {
        Self { incoming, limit, silence: None, renamer: None }
    }

    /// Exchanges the model's name in what is to come.
    pub(super) fn rename(&mut self, renamer: Renamer) {
        self.renamer = Some(renamer);
    }

    /// The whole of it, up to `limit` bytes; what is longer is cut when `cut` says so, an error otherwise.
    pub async fn collect_up_to(mut self, limit: usize, cut: bool) -> Result<Bytes, UpstreamError> {
        let mut whole = BytesMut::new();
        while let Some(frame) = self.frame().await {
            let Ok(data) = frame?.into_data() else { continue };
            if whole.len() + data.len() > limit {
                if !cut {
                    return Err(UpstreamError::Broken(format!("it is longer than {limit} bytes")));
                }
                whole.extend_from_slice(&data[..limit - whole.len()]);
                break;
            }
            whole.extend_from_slice(&data);
        }
        Ok(whole.freeze())
    }

    /// The frame as it goes on. None: all of it is kept back for now.
    fn renamed(&mut self, frame: Option<Incame>) -> Option<Option<Incame>> {
        let Some(renamer) = &mut self.renamer else { return Some(frame) };
        match frame {
            Some(Ok(frame)) => match frame.into_data() {
                Ok(data) => {
                    let now = renamer.take(&data);
                    (!now.is_empty()).then(|| Some(Ok(Frame::data(now))))
                }
                Err(frame) => Some(Some(Ok(frame))),
            },
            Some(error) => Some(Some(error)),
            None => {
                let rest = self.renamer.take().map(Renamer::end).filter(|rest| !rest.is_empty());
                Some(rest.map(|rest| Ok(Frame::data(rest))))
            }
        }
    }

    /// Reads what is left in the background, so that the connection can serve the next turn.
    pub(super) fn drain(mut self) {
        if self.is_end_stream() {
            return;
        }
        tokio::spawn(tokio::time::timeout(DRAIN_LIMIT, async move {
            while let Some(Ok(_)) = self.frame().await {}
        }));
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = UpstreamError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, UpstreamError>>> {
        let body = self.get_mut();
        while let Poll::Ready(frame) = Pin::new(&mut body.incoming).poll_frame(cx) {
            body.silence = None;
            if let Some(frame) = body.renamed(frame) {
                return Poll::Ready(frame.map(|frame| frame.map_err(|error| broken(&error))));
            }
        }
        let limit = body.limit;
        let silence = body.silence.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        ready!(silence.as_mut().poll(cx));
        Poll::Ready(Some(Err(UpstreamError::TimedOut { seconds: limit.as_secs() })))
    }

    fn is_end_stream(&self) -> bool {
        self.renamer.is_none() && self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        if self.renamer.is_some() { SizeHint::default() } else { self.incoming.size_hint() }
    }
}

impl fmt::Debug for AnswerBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerBody").finish_non_exhaustive()
    }
}

fn broken(error: &hyper::Error) -> UpstreamError {
    UpstreamError::Broken(format!("the connection ended early ({})", super::http::innermost(error)))
}
