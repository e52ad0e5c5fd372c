//! The record of a request in the ledger, from its coming in to the last byte of its answer. What runs code
//! holds a part of it meanwhile, so it ends when that does.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use sandgate_gate::{Call, Ledger, NewCall};

use crate::front::Passed;
use crate::owner::principal_of;
use crate::request_id::RequestId;

/// In an answer's extensions: the code of the error that it tells of.
#[derive(Clone, Debug)]
pub(crate) struct ErrorCode(pub(crate) String);

/// What is recorded whatever comes of it; of the other paths, what is passed on to the upstream.
fn api_of(method: &Method, path: &str) -> &'static str {
    match path {
        "/v1/responses" if method == Method::POST => "responses",
        "/v1/chat/completions" if method == Method::POST => "chat",
        "/v1/execute" if method == Method::POST => "execute",
        _ => OTHER,
    }
}

const OTHER: &str = "other";

pub(crate) async fn record(State(ledger): State<Ledger>, mut request: Request, next: Next) -> Response {
    let who = principal_of(request.extensions(), request.headers());
    let id = RequestId::of(request.extensions());
    let (api, path) = (api_of(request.method(), request.uri().path()), request.uri().path());
    let call = Call::new(&ledger, &NewCall { who: &who, request_id: &id, api, path });
    if api == OTHER {
        call.discard();
    }
    request.extensions_mut().insert(call.clone());
    let response = next.run(request).await;
    let status = response.status();
    call.answered(status.as_u16());
    if response.extensions().get::<Passed>().is_some() {
        return response.map(|body| Body::new(PassedBody { body, call, status, bytes: 0 }));
    }
    if status.is_client_error() || status.is_server_error() {
        let code = response.extensions().get::<ErrorCode>();
        call.failed(code.map_or("", |code| code.0.as_str()));
    }
    response
}

/// An answer of the upstream on its way through.
struct PassedBody {
    body: Body,
    call: Call,
    status: StatusCode,
    bytes: u64,
}

impl PassedBody {
    fn end(&self) {
        if self.status.is_client_error() || self.status.is_server_error() {
            self.call.failed("upstream");
        } else {
            self.call.ended("completed");
        }
    }
}

impl HttpBody for PassedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        let polled = Pin::new(&mut this.body).poll_frame(context);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                this.bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
                // Whoever knows the length asks no more.
                if this.body.is_end_stream() {
                    this.end();
                }
            }
            Poll::Ready(Some(Err(_))) => this.call.failed("broken"),
            Poll::Ready(None) => this.end(),
            Poll::Pending => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for PassedBody {
    fn drop(&mut self) {
        // An empty answer is never asked for anything.
        if self.body.is_end_stream() {
            self.end();
        }
        self.call.note("response_bytes", self.bytes);
    }
}
