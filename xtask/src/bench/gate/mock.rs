//! The model that everyone stands in front of: a server on a thread of its own that answers at once,
//! or after the delay that the model's name says. It is the sandbox that LiteLLM asks, too.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::LazyLock;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use anyhow::Result;
use bytes::Bytes;
use http_body_util::{BodyExt, Either, Full};
use hyper::body::{Body, Frame, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::time::{Sleep, sleep};

use super::answers;

/// Deltas of a streamed answer, and the time between them.
pub(super) const CHUNKS: u32 = 40;
const CHUNK_EVERY: Duration = Duration::from_millis(3);

/// Times that cross a stream are nanoseconds since this.
static EPOCH: LazyLock<Instant> = LazyLock::new(Instant::now);

pub(super) fn stamp(at: Instant) -> u128 {
    at.saturating_duration_since(*EPOCH).as_nanos()
}

/// What a model's name asks for.
#[derive(Debug, PartialEq)]
enum Manner {
    /// One message.
    Plain,
    /// One message, in deltas that carry the time they were sent.
    Chunks,
    /// First a call of the code tool, then a message.
    Code,
}

/// Serves until this process ends.
pub(super) fn start() -> Result<SocketAddr> {
    LazyLock::force(&EPOCH);
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    // Not on the client's thread: the two would hand over to each other faster than any network does.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::Builder::new().name("mock".to_owned()).spawn(move || runtime.block_on(serve(listener)))?;
    Ok(address)
}

async fn serve(listener: std::net::TcpListener) -> Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    loop {
        let (connection, _) = listener.accept().await?;
        connection.set_nodelay(true)?;
        let serving = http1::Builder::new().serve_connection(TokioIo::new(connection), service_fn(answer));
        // A client that goes away is no event.
        tokio::spawn(async move { serving.await.ok() });
    }
}

type Answer = Response<Either<Full<Bytes>, Chunks>>;

async fn answer(request: Request<Incoming>) -> Result<Answer, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    if head.uri.path() != "/v1/responses" {
        let (kind, text) = answers::sandbox(head.uri.path(), &head.headers);
        return Ok(whole(kind, text.into()));
    }
    let Some((manner, delay)) = asked(&body) else {
        let mut refusal = whole("application/json", Bytes::from_static(b"{}"));
        *refusal.status_mut() = hyper::StatusCode::BAD_REQUEST;
        return Ok(refusal);
    };
    if !delay.is_zero() {
        // Tokio's own timer goes by whole milliseconds, which would swallow what is to be measured.
        let _ = tokio::task::spawn_blocking(move || std::thread::sleep(delay)).await;
    }
    Ok(match manner {
        Manner::Plain => whole("application/json", answers::message().into()),
        Manner::Code => whole("application/json", answers::code_turn(&body).into()),
        Manner::Chunks if !answers::is_streamed(&body) => {
            // Writing takes a model as long whether somebody watches or not.
            sleep(CHUNK_EVERY * CHUNKS).await;
            whole("application/json", answers::message().into())
        }
        Manner::Chunks => {
            let mut response = Response::new(Either::Right(Chunks::new()));
            set_kind(&mut response, "text/event-stream");
            response
        }
    })
}

fn whole(kind: &'static str, text: Bytes) -> Answer {
    let mut response = Response::new(Either::Left(Full::new(text)));
    set_kind(&mut response, kind);
    response
}

fn set_kind(response: &mut Answer, kind: &'static str) {
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
}

/// `code-60`: reads no more of the body than it takes to find the model's name, which comes first.
fn asked(body: &[u8]) -> Option<(Manner, Duration)> {
    let start = memchr::memmem::find(body, b"\"model\"")? + b"\"model\"".len();
    let rest = &body[start..body.len().min(start + 64)];
    let name = rest.split(|byte| *byte == b'"').nth(1)?;
    let (manner, delay) = std::str::from_utf8(name).ok()?.split_once('-')?;
    let manner = match manner {
        "plain" => Manner::Plain,
        "chunks" => Manner::Chunks,
        "code" => Manner::Code,
        _ => return None,
    };
    Some((manner, Duration::from_millis(delay.parse().ok()?)))
}

/// The events of a message, the first ones at once, then a delta at a time.
pub(super) struct Chunks {
    sent: u32,
    wait: Option<Pin<Box<Sleep>>>,
}

impl Chunks {
    fn new() -> Self {
        Self { sent: 0, wait: None }
    }
}

impl Body for Chunks {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(wait) = &mut self.wait {
            ready!(wait.as_mut().poll(cx));
        }
        let text = match self.sent {
            0 => answers::stream_start(),
            sent if sent <= CHUNKS => answers::stream_delta(sent, stamp(Instant::now())),
            sent if sent == CHUNKS + 1 => answers::stream_end(),
            _ => return Poll::Ready(None),
        };
        self.sent += 1;
        self.wait = Some(Box::pin(sleep(CHUNK_EVERY)));
        Poll::Ready(Some(Ok(Frame::data(text.into()))))
    }
}

#[cfg(test)]
#[path = "mock_tests.rs"]
mod tests;
