//! An answer in pieces. It ends with a last frame that says how it went; only when the sandbox is gone is the
//! connection cut instead, which clients take for what it is.

use std::io;

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt};

use super::super::refusal::Refusal;
use super::codec::{Codec, Tell};
use super::frames;

/// Why a stream ended before its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Last {
    Refused(Refusal),
    /// The sandbox went away under it.
    Cut,
}

pub(super) fn answer<M: Tell>(codec: Codec, messages: BoxStream<'static, Result<M, Last>>) -> Response {
    let pieces = stream::unfold(Some(messages), move |messages| async move {
        let mut messages = messages?;
        let piece = match messages.next().await {
            Some(Ok(message)) => match codec.write(&message) {
                Ok(message) => return Some((Ok(frames::data(&message)), Some(messages))),
                Err(refusal) => Ok(frames::end(Some(&refusal))),
            },
            Some(Err(Last::Refused(refusal))) => Ok(frames::end(Some(&refusal))),
            Some(Err(Last::Cut)) => Err(io::Error::other("the sandbox went away")),
            None => Ok(frames::end(None)),
        };
        Some((piece, None))
    });
    of(codec, Body::from_stream(pieces))
}

/// A stream that holds nothing but why there is none: the protocol has no status for it.
pub(super) fn refused(codec: Codec, refusal: &Refusal) -> Response {
    of(codec, Body::from(frames::end(Some(refusal))))
}

/// A stream of one message.
pub(super) fn one(codec: Codec, message: &[u8]) -> Response {
    let whole: Bytes = [frames::data(message), frames::end(None)].concat().into();
    of(codec, Body::from(whole))
}

fn of(codec: Codec, body: Body) -> Response {
    let mut response = body.into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(codec.kind_of_stream()));
    response
}
