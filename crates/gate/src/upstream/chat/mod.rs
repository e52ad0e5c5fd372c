//! Servers that have Chat Completions only: a turn is translated on the way up and its chunks on the way
//! back, so that the loop sees the Responses API here too.

mod calls;
mod chunks;
mod content;
mod failure;
mod fragments;
mod messages;
mod request;
mod tools;
mod turn;
mod usage;
mod whole;

use std::collections::VecDeque;

use ::http::{Method, Request, Response};
use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use serde_json::Value;

pub(crate) use self::calls::unused_id;
use self::chunks::Translator;
pub(crate) use self::fragments::{GatheredCall, GatheredCalls};
use self::request::chat_body;
pub(in crate::upstream) use self::turn::chat_turn;
use super::answer::AnswerBody;
use super::events::{EventSource, Payload};
use super::headers::useful;
use super::http::{Connection, RequestBody};
use super::responses::{AnswerKind, answer_kind, whole_json};
use super::retry::with_retries;
use super::{Credentials, Turn, TurnRequest, Upstream, UpstreamError};

/// What servers of this kind disagree on.
#[derive(Debug, Clone, Copy, Default)]
pub struct ChatOptions {
    /// The limit is called `max_tokens` instead of `max_completion_tokens`.
    pub max_tokens: bool,
}

#[derive(Debug, Clone)]
pub struct ChatUpstream {
    connection: Connection,
    options: ChatOptions,
}

impl ChatUpstream {
    #[must_use]
    pub fn new(connection: Connection, options: ChatOptions) -> Self {
        Self { connection, options }
    }
}

#[async_trait]
impl Upstream for ChatUpstream {
    fn name(&self) -> &str {
        self.connection.place()
    }

    async fn turn(&self, request: TurnRequest) -> Result<Turn, UpstreamError> {
        let chat = chat_body(&request.body, request.stream, self.options)?;
        let body = Bytes::from(Value::Object(chat).to_string());
        with_retries(request.retries, || async {
            let (path, id) = ("/chat/completions", &request.request_id);
            let answer =
                self.connection.call(Method::POST, path, &request.credentials, id, body.clone()).await?;
            let (head, body) = answer.into_parts();
            let mut translator = Translator::new(request.body.clone());
            let events = match answer_kind(&head.headers)? {
                AnswerKind::Events => events_of(body, translator),
                AnswerKind::Json => {
                    let events = translator.whole(whole_json(body).await?)?;
                    stream::iter(events.into_iter().map(Ok)).boxed()
                }
            };
            Ok(Turn { events, headers: useful(&head.headers) })
        })
        .await
    }

    async fn chat_turn(&self, request: TurnRequest) -> Result<Turn, UpstreamError> {
        chat_turn(&self.connection, request).await
    }

    /// Everything but the API it does not have.
    fn forwards(&self, path: &str) -> bool {
        let path = path.strip_prefix("/v1").unwrap_or(path);
        path != "/responses" && !path.starts_with("/responses/")
    }

    async fn forward(&self, request: Request<RequestBody>) -> Result<Response<AnswerBody>, UpstreamError> {
        if !self.forwards(request.uri().path()) {
            return Err(UpstreamError::Unsupported("it has the Chat Completions API only".to_owned()));
        }
        self.connection.forward(request).await
    }

    async fn models(&self, credentials: &Credentials) -> Result<Value, UpstreamError> {
        self.connection.models(credentials).await
    }
}

struct Reader {
    source: EventSource,
    translator: Translator,
    ready: VecDeque<Value>,
}

fn events_of(body: AnswerBody, translator: Translator) -> BoxStream<'static, Result<Value, UpstreamError>> {
    let reader = Reader { source: EventSource::new(body), translator, ready: VecDeque::new() };
    stream::unfold(Some(reader), |reader| async move { read(reader?).await }).boxed()
}

/// The next event and, unless it was the last, what reads the one after it.
async fn read(mut reader: Reader) -> Option<(Result<Value, UpstreamError>, Option<Reader>)> {
    loop {
        if let Some(event) = reader.ready.pop_front() {
            if reader.ready.is_empty() && reader.translator.is_over() {
                reader.source.end();
                return Some((Ok(event), None));
            }
            return Some((Ok(event), Some(reader)));
        }
        let translator = &mut reader.translator;
        let step = match reader.source.next().await {
            Ok(Some(Payload::Json { value, .. })) => translator.chunk(&value),
            Ok(Some(Payload::Done)) => translator.end(true),
            Ok(None) => translator.end(false),
            // All was said; that the end itself was clumsy changes nothing.
            Err(_) if translator.has_finished() => translator.end(false),
            Err(error) => Err(error),
        };
        match step {
            Ok(events) => reader.ready.extend(events),
            Err(error) => return Some((Err(error), None)),
        }
    }
}

#[cfg(test)]
#[path = "chat_tests.rs"]
mod tests;
