//! Models: one trait for everything that can take a turn, whatever it speaks on the wire. What comes out
//! is always a stream of Responses events, so that the loop knows one shape only.

mod answer;
mod asked;
mod chat;
mod compose;
mod connection_config;
mod credentials;
mod error;
mod events;
mod expand;
mod fences;
mod headers;
mod http;
mod items;
mod kept_by;
mod loopback;
mod loopback_chat;
mod model_name;
mod refusal;
mod renamed_answer;
mod renaming;
mod responses;
mod retry;
mod router;
mod routes;
mod sse;
#[cfg(test)]
pub(crate) mod test_schemas;
#[cfg(test)]
pub(crate) mod test_server;

use std::fmt::Debug;

use ::http::HeaderMap;
use async_trait::async_trait;
use futures_util::stream::BoxStream;
use serde_json::{Map, Value};

pub use self::answer::AnswerBody;
pub use self::asked::Asked;
pub use self::chat::{ChatOptions, ChatUpstream};
pub(crate) use self::chat::{GatheredCall, GatheredCalls, unused_id};
pub use self::connection_config::{ConnectionConfig, InvalidConnection};
pub use self::credentials::Credentials;
pub use self::error::UpstreamError;
pub use self::expand::expand;
pub use self::http::{Connection, RequestBody, body_of};
pub use self::kept_by::{CameFrom, KeptBy};
pub use self::loopback::Loopback;
pub use self::model_name::model_in;
pub use self::responses::ResponsesUpstream;
pub use self::router::Router;
pub use self::routes::{Member, MemberShown, RouteShown, Routes};
pub use self::sse::{SseError, SseEvent, SseParser};

/// Something that can take a model's turn.
#[async_trait]
pub trait Upstream: Send + Sync + Debug {
    /// What it is called in records: where it is, without a secret.
    fn name(&self) -> &str {
        "upstream"
    }

    /// One turn of the model: a Responses create body in, Responses stream events out.
    ///
    /// The last event is `response.completed`, `response.incomplete`, `response.failed` or `error`
    /// (an `error` may still be followed by `response.failed`). A connection that ends without one ends
    /// the stream with [`UpstreamError::Broken`]; nothing follows an `Err`. Dropping the stream closes
    /// the connection at once.
    async fn turn(&self, request: TurnRequest) -> Result<Turn, UpstreamError>;

    /// One turn of the model in the form of Chat Completions: a create body in, chunks out. A whole
    /// completion comes as one chunk, with its message as the delta.
    ///
    /// An object with an `error` in place of a chunk is the last. An answer that breaks off before a
    /// `finish_reason` ends with [`UpstreamError::Broken`].
    async fn chat_turn(&self, request: TurnRequest) -> Result<Turn, UpstreamError>;

    /// Whether [`forward`](Self::forward) makes sense for this path of ours (`/v1/embeddings`).
    fn forwards(&self, path: &str) -> bool;

    /// The same for a request that names this model: upstreams behind one server differ.
    fn forwards_for(&self, path: &str, _model: Option<&str>) -> bool {
        self.forwards(path)
    }

    /// The same for a request with this JSON body.
    fn forwards_body(&self, path: &str, _body: &[u8]) -> bool {
        self.forwards(path)
    }

    /// Whether several may answer, so that it has to be kept in mind who did.
    fn is_several(&self) -> bool {
        false
    }

    /// Turns of one response in which code may run, where this model has a limit of its own.
    fn rounds(&self, _model: Option<&str>) -> Option<u32> {
        None
    }

    /// The backend that runs the code of this model, where it has one of its own.
    fn backend(&self, _model: Option<&str>) -> Option<String> {
        None
    }

    /// Passes a request on byte for byte and streams the answer back. The path is the one the client
    /// asked us for; its `/v1` stands for the upstream's base.
    async fn forward(
        &self,
        request: ::http::Request<RequestBody>,
    ) -> Result<::http::Response<AnswerBody>, UpstreamError>;

    /// The body of `GET /v1/models`.
    async fn models(&self, credentials: &Credentials) -> Result<Value, UpstreamError>;
}

/// What the model is asked in one turn.
#[derive(Debug, Clone)]
pub struct TurnRequest {
    /// A create body of the API that is asked in. Its `stream` is overwritten by the field below.
    pub body: Map<String, Value>,
    pub credentials: Credentials,
    /// Whether the upstream is asked to stream. Events come out either way.
    pub stream: bool,
    /// Sent along, so that the upstream's log and ours can be laid side by side.
    pub request_id: String,
    /// How often a turn that failed before its first event is tried again. None for the first turn (the
    /// client tries again by itself); later a second try saves the whole work done so far.
    pub retries: u32,
    /// Says afterwards whom it was asked of.
    pub asked: Asked,
}

/// The answer of one turn, as it arrives.
pub struct Turn {
    pub events: BoxStream<'static, Result<Value, UpstreamError>>,
    /// Headers of the upstream's answer that a client may use: request id, rate limits, `openai-*`.
    pub headers: HeaderMap,
}

impl Debug for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Turn").field("headers", &self.headers).finish_non_exhaustive()
    }
}
