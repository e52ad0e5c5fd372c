//! From a request to the function that answers it, and back.

use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, post};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;

use super::super::Shared;
use super::super::guest::Guest;
use super::super::refusal::{Kind, Refusal};
use super::super::user;
use super::LARGEST_MESSAGE;
use super::codec::{Ask, Codec, Tell};
use super::frames::Frames;
use super::stream::{self, Last};

const USUAL_KEEPALIVE: Duration = Duration::from_secs(90);
/// In seconds.
const LONGEST_KEEPALIVE: u64 = 3600;
/// Ten digits is what the protocol allows.
const LONGEST_TIMEOUT_DIGITS: usize = 10;

/// What a call says beside its message.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) guest: Guest,
    pub(crate) shared: Shared,
    /// None: it may take as long as it takes.
    pub(crate) timeout: Option<Duration>,
    /// How often a silent stream gives a sign of life.
    pub(crate) keepalive: Duration,
}

impl Call {
    fn begin(
        shared: Shared,
        request: &Request,
    ) -> impl Future<Output = Result<Self, Refusal>> + Send + use<> {
        let headers = request.headers();
        let read = user::of_call(headers).and_then(|()| Ok((timeout(headers)?, keepalive(headers))));
        let guest = Guest::of(request);
        async move {
            let (timeout, keepalive) = read?;
            Ok(Self { guest: guest.await?, shared, timeout, keepalive })
        }
    }

    async fn in_time<T>(&self, work: impl Future<Output = Result<T, Refusal>>) -> Result<T, Refusal> {
        let Some(timeout) = self.timeout else { return work.await };
        tokio::time::timeout(timeout, work).await.unwrap_or_else(|_| Err(too_late()))
    }
}

pub(crate) fn too_late() -> Refusal {
    Refusal::new(Kind::TooLate, "the deadline of the request is over")
}

/// A message in, a message out.
pub(crate) fn unary<I, O, F, W>(work: F) -> MethodRouter<Shared>
where
    I: Ask + 'static,
    O: Tell,
    F: Fn(Call, I) -> W + Clone + Send + Sync + 'static,
    W: Future<Output = Result<O, Refusal>> + Send,
{
    post(move |State(shared): State<Shared>, request: Request| async move {
        let id = Guest::id_of(&request);
        let answered = answer_one(shared, request, work).await;
        answered.unwrap_or_else(|refusal| refusal.over_connect(&id))
    })
}

async fn answer_one<I, O, F, W>(shared: Shared, request: Request, work: F) -> Result<Response, Refusal>
where
    I: Ask,
    O: Tell,
    F: Fn(Call, I) -> W,
    W: Future<Output = Result<O, Refusal>> + Send,
{
    let codec = Codec::of_one(request.headers())?;
    let call = Call::begin(shared, &request).await?;
    let body = whole(request).await?;
    let ask = codec.read(&body)?;
    let (guest, work) = (call.guest.clone(), work(call.clone(), ask));
    let told = call.in_time(work).await.map_err(|refusal| guest.explain(refusal))?;
    let mut response = codec.write(&told)?.into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(codec.kind_of_one()));
    Ok(response)
}

/// A message in, a stream out.
pub(crate) fn to_stream<I, O, F, W>(work: F) -> MethodRouter<Shared>
where
    I: Ask + 'static,
    O: Tell,
    F: Fn(Call, I) -> W + Clone + Send + Sync + 'static,
    W: Future<Output = Result<BoxStream<'static, Result<O, Last>>, Refusal>> + Send,
{
    post(move |State(shared): State<Shared>, request: Request| async move {
        let id = Guest::id_of(&request);
        match Codec::of_stream(request.headers()) {
            Err(refusal) => refusal.over_connect(&id),
            Ok(codec) => match open_stream(codec, shared, request, work).await {
                Ok(messages) => stream::answer(codec, messages),
                Err(refusal) => not_streamed(codec, refusal, &id),
            },
        }
    })
}

async fn open_stream<I, O, F, W>(
    codec: Codec,
    shared: Shared,
    request: Request,
    work: F,
) -> Result<BoxStream<'static, Result<O, Last>>, Refusal>
where
    I: Ask,
    F: Fn(Call, I) -> W,
    W: Future<Output = Result<BoxStream<'static, Result<O, Last>>, Refusal>> + Send,
{
    let call = Call::begin(shared, &request).await?;
    let mut frames = Frames::new(request.into_body(), codec);
    let ask = frames.next().await?.ok_or_else(|| Refusal::invalid("the stream holds no message"))?;
    let guest = call.guest.clone();
    work(call, ask).await.map_err(|refusal| guest.explain(refusal))
}

/// A stream in, a message out.
pub(crate) fn from_stream<O, F, W>(work: F) -> MethodRouter<Shared>
where
    O: Tell,
    F: Fn(Call, Frames) -> W + Clone + Send + Sync + 'static,
    W: Future<Output = Result<O, Refusal>> + Send,
{
    post(move |State(shared): State<Shared>, request: Request| async move {
        let id = Guest::id_of(&request);
        match Codec::of_stream(request.headers()) {
            Err(refusal) => refusal.over_connect(&id),
            Ok(codec) => match take_stream(codec, shared, request, work).await {
                Ok(message) => stream::one(codec, &message),
                Err(refusal) => not_streamed(codec, refusal, &id),
            },
        }
    })
}

async fn take_stream<O, F, W>(
    codec: Codec,
    shared: Shared,
    request: Request,
    work: F,
) -> Result<Bytes, Refusal>
where
    O: Tell,
    F: Fn(Call, Frames) -> W,
    W: Future<Output = Result<O, Refusal>> + Send,
{
    let call = Call::begin(shared, &request).await?;
    let frames = Frames::new(request.into_body(), codec);
    let (guest, work) = (call.guest.clone(), work(call.clone(), frames));
    let told = call.in_time(work).await.map_err(|refusal| guest.explain(refusal))?;
    codec.write(&told)
}

/// Clients understand both kinds of these as plain HTTP, and lose the words of the first in a frame.
fn not_streamed(codec: Codec, refusal: Refusal, id: &str) -> Response {
    match refusal.kind {
        Kind::Gone | Kind::Unauthenticated => refusal.over_http(id),
        _ => stream::refused(codec, &refusal),
    }
}

async fn whole(request: Request) -> Result<Bytes, Refusal> {
    let mut pieces = request.into_body().into_data_stream();
    let mut body = BytesMut::new();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|error| Refusal::unreadable(&error))?;
        if body.len() + piece.len() > LARGEST_MESSAGE {
            let message = format!("the message is larger than the limit of {LARGEST_MESSAGE} bytes");
            return Err(Refusal::new(Kind::TooLarge, message));
        }
        body.extend_from_slice(&piece);
    }
    Ok(body.freeze())
}

/// Zero means none, as with the original.
fn timeout(headers: &HeaderMap) -> Result<Option<Duration>, Refusal> {
    let Some(value) = headers.get("connect-timeout-ms") else { return Ok(None) };
    let text = value.to_str().unwrap_or_default();
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(0) if is_number => Ok(None),
        Ok(millis) if is_number && text.len() <= LONGEST_TIMEOUT_DIGITS => {
            Ok(Some(Duration::from_millis(millis)))
        }
        _ => Err(Refusal::invalid("'connect-timeout-ms' must be a number of at most ten digits")),
    }
}

fn keepalive(headers: &HeaderMap) -> Duration {
    let wished = headers.get("keepalive-ping-interval").and_then(|value| value.to_str().ok()?.parse().ok());
    wished
        .filter(|seconds: &u64| *seconds > 0)
        .map_or(USUAL_KEEPALIVE, |seconds| Duration::from_secs(seconds.min(LONGEST_KEEPALIVE)))
}

#[cfg(test)]
#[path = "call_tests.rs"]
mod tests;
