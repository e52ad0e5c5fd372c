//! A turn asked for and answered in the form of Chat Completions itself: chunks come out as the server
//! made them, and a whole completion as one chunk.

use ::http::Method;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use serde_json::{Map, Value, json};

use super::failure::error_in;
use super::whole::as_chunk;
use crate::upstream::answer::AnswerBody;
use crate::upstream::events::{EventSource, Payload};
use crate::upstream::headers::useful;
use crate::upstream::http::Connection;
use crate::upstream::responses::{AnswerKind, answer_kind, whole_json};
use crate::upstream::retry::with_retries;
use crate::upstream::{Turn, TurnRequest, UpstreamError};

const PATH: &str = "/chat/completions";

pub(in crate::upstream) async fn chat_turn(
    connection: &Connection,
    mut request: TurnRequest,
) -> Result<Turn, UpstreamError> {
    if request.stream {
        request.body.insert("stream".to_owned(), Value::Bool(true));
        count_tokens(&mut request.body);
    }
    let body = Bytes::from(Value::Object(request.body).to_string());
    with_retries(request.retries, || async {
        let (credentials, id) = (&request.credentials, &request.request_id);
        let answer = connection.call(Method::POST, PATH, credentials, id, body.clone()).await?;
        let (head, body) = answer.into_parts();
        let events = match answer_kind(&head.headers)? {
            AnswerKind::Events => chunks_of(body),
            AnswerKind::Json => {
                let whole = whole_json(body).await?;
                let chunk = match error_in(&whole) {
                    Some(error) => json!({"error": error}),
                    None => Value::Object(as_chunk(whole)?),
                };
                stream::iter([Ok(chunk)]).boxed()
            }
        };
        Ok(Turn { events, headers: useful(&head.headers) })
    })
    .await
}

/// Streams say what they used only when asked, and we have to know it.
fn count_tokens(body: &mut Map<String, Value>) {
    let options = body.entry("stream_options").or_insert_with(|| json!({}));
    if options.is_null() {
        *options = json!({});
    }
    // What is no object is the server's to refuse.
    if let Value::Object(options) = options {
        options.insert("include_usage".to_owned(), Value::Bool(true));
    }
}

struct Reader {
    source: EventSource,
    came: bool,
    /// The model has said why it stopped; only counts can follow.
    finished: bool,
}

fn chunks_of(body: AnswerBody) -> BoxStream<'static, Result<Value, UpstreamError>> {
    let reader = Reader { source: EventSource::new(body), came: false, finished: false };
    stream::unfold(Some(reader), |reader| async move { read(reader?).await }).boxed()
}

/// The next chunk and, unless it was the last, what reads the one after it.
async fn read(mut reader: Reader) -> Option<(Result<Value, UpstreamError>, Option<Reader>)> {
    match reader.source.next().await {
        Ok(Some(Payload::Json { value, .. })) => {
            if let Some(error) = error_in(&value) {
                return Some((Ok(json!({"error": error})), None));
            }
            reader.came = true;
            reader.finished |= finishes(&value);
            Some((Ok(Value::Object(value)), Some(reader)))
        }
        Ok(Some(Payload::Done)) if reader.came => {
            reader.source.end();
            None
        }
        // All was said; that the end itself was clumsy changes nothing.
        _ if reader.finished => None,
        Ok(Some(Payload::Done) | None) => {
            Some((Err(UpstreamError::Broken("it ended without a finish_reason".to_owned())), None))
        }
        Err(error) => Some((Err(error), None)),
    }
}

fn finishes(chunk: &Map<String, Value>) -> bool {
    let choices = chunk.get("choices").and_then(Value::as_array).into_iter().flatten();
    choices
        .into_iter()
        .any(|choice| choice["finish_reason"].as_str().is_some_and(|reason| !reason.is_empty()))
}

#[cfg(test)]
#[path = "turn_tests.rs"]
mod tests;
