//! An upstream that speaks the Responses API itself: events pass through as they come.

use ::http::{HeaderMap, Method, Request, Response, header};
use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use serde_json::{Map, Value};

use super::answer::AnswerBody;
use super::chat::chat_turn;
use super::events::{EventSource, Payload};
use super::expand::expand;
use super::headers::useful;
use super::http::{Connection, RequestBody, WHOLE_BODY_LIMIT};
use super::retry::with_retries;
use super::{Credentials, Turn, TurnRequest, Upstream, UpstreamError};

#[derive(Debug, Clone)]
pub struct ResponsesUpstream {
    connection: Connection,
}

impl ResponsesUpstream {
    #[must_use]
    pub fn new(connection: Connection) -> Self {
        Self { connection }
    }
}

#[async_trait]
impl Upstream for ResponsesUpstream {
    fn name(&self) -> &str {
        self.connection.place()
    }

    async fn turn(&self, mut request: TurnRequest) -> Result<Turn, UpstreamError> {
        request.body.insert("stream".to_owned(), Value::Bool(request.stream));
        if !request.stream {
            request.body.remove("stream_options");
        }
        let body = Bytes::from(Value::Object(request.body).to_string());
        with_retries(request.retries, || async {
            let (path, id) = ("/responses", &request.request_id);
            let answer =
                self.connection.call(Method::POST, path, &request.credentials, id, body.clone()).await?;
            let (head, body) = answer.into_parts();
            let events = match answer_kind(&head.headers)? {
                AnswerKind::Events => events_of(body),
                AnswerKind::Json => events_of_whole(body).await?,
            };
            Ok(Turn { events, headers: useful(&head.headers) })
        })
        .await
    }

    /// Servers with the Responses API have the older one too.
    async fn chat_turn(&self, request: TurnRequest) -> Result<Turn, UpstreamError> {
        chat_turn(&self.connection, request).await
    }

    fn forwards(&self, _path: &str) -> bool {
        true
    }

    async fn forward(&self, request: Request<RequestBody>) -> Result<Response<AnswerBody>, UpstreamError> {
        self.connection.forward(request).await
    }

    async fn models(&self, credentials: &Credentials) -> Result<Value, UpstreamError> {
        self.connection.models(credentials).await
    }
}

pub(super) enum AnswerKind {
    Events,
    Json,
}

/// What a success holds. A page of some proxy in between is told as such.
pub(super) fn answer_kind(headers: &HeaderMap) -> Result<AnswerKind, UpstreamError> {
    let Some(kind) = headers.get(header::CONTENT_TYPE) else { return Ok(AnswerKind::Events) };
    let kind = String::from_utf8_lossy(kind.as_bytes()).to_ascii_lowercase();
    if kind.contains("event-stream") {
        Ok(AnswerKind::Events)
    } else if kind.contains("json") {
        Ok(AnswerKind::Json)
    } else {
        Err(UpstreamError::Broken(format!("it is of type '{kind}', not events and not JSON")))
    }
}

pub(super) async fn whole_json(body: AnswerBody) -> Result<Map<String, Value>, UpstreamError> {
    let bytes = body.collect_up_to(WHOLE_BODY_LIMIT, false).await?;
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(whole)) => Ok(whole),
        Ok(_) => Err(UpstreamError::Broken("it is not a JSON object".to_owned())),
        Err(error) => Err(UpstreamError::Broken(format!("it is not JSON ({error})"))),
    }
}

type Events = BoxStream<'static, Result<Value, UpstreamError>>;

async fn events_of_whole(body: AnswerBody) -> Result<Events, UpstreamError> {
    let events = expand(whole_json(body).await?)?;
    Ok(stream::iter(events.into_iter().map(Ok)).boxed())
}

struct Reader {
    source: EventSource,
    saw_error: bool,
}

fn events_of(body: AnswerBody) -> Events {
    let reader = Reader { source: EventSource::new(body), saw_error: false };
    stream::unfold(Some(reader), |reader| async move { read(reader?).await }).boxed()
}

/// The next event and, unless it was the last, what reads the one after it.
async fn read(mut reader: Reader) -> Option<(Result<Value, UpstreamError>, Option<Reader>)> {
    let event = match reader.source.next().await {
        Ok(Some(Payload::Json { name, value })) => typed(name, value),
        Ok(Some(Payload::Done) | None) if reader.saw_error => return None,
        Ok(Some(Payload::Done) | None) => Err(ended_early()),
        Err(error) => Err(error),
    };
    let Ok(event) = event else { return Some((event, None)) };
    match event["type"].as_str() {
        Some("response.completed" | "response.incomplete" | "response.failed") => {
            reader.source.end();
            Some((Ok(event), None))
        }
        Some("error") => {
            reader.saw_error = true;
            Some((Ok(event), Some(reader)))
        }
        _ => Some((Ok(event), Some(reader))),
    }
}

fn ended_early() -> UpstreamError {
    UpstreamError::Broken(
        "it ended without response.completed, response.incomplete or response.failed".to_owned(),
    )
}

/// Every event says its type; where it does so outside the JSON only, or is a bare error, it is added.
fn typed(name: String, mut value: Map<String, Value>) -> Result<Value, UpstreamError> {
    if !value.get("type").is_some_and(Value::is_string) {
        let kind = match name.as_str() {
            "" | "message" if value.get("error").is_some_and(|error| !error.is_null()) => "error".to_owned(),
            "" | "message" => return Err(UpstreamError::Broken("an event has no type".to_owned())),
            _ => name,
        };
        value.insert("type".to_owned(), Value::String(kind));
    }
    Ok(Value::Object(value))
}

#[cfg(test)]
#[path = "responses_tests.rs"]
mod tests;
