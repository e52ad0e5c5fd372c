//! Server-sent events: how the scripted model writes them, and a reader that insists on the framing.

use serde_json::Value;

/// One event of the Responses API as bytes.
pub(crate) fn response_event(event: &Value) -> String {
    let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
    format!("event: {kind}\ndata: {event}\n\n")
}

/// One chunk of Chat Completions as bytes.
pub(crate) fn chat_chunk(chunk: &Value) -> String {
    format!("data: {chunk}\n\n")
}

pub(crate) const CHAT_END: &str = "data: [DONE]\n\n";

#[derive(Debug, thiserror::Error)]
pub enum FramingError {
    #[error("the stream is not UTF-8: {0}")]
    Encoding(#[from] std::str::Utf8Error),
    #[error("the stream ends in the middle of an event: {0:?}")]
    Unfinished(String),
    #[error("a line that no event has: {0:?}")]
    Line(String),
    #[error("an event without data: {0:?}")]
    NoData(String),
    #[error("the data is not JSON ({error}): {data:?}")]
    Json { error: serde_json::Error, data: String },
    #[error("the event line says {line:?}, the data says {kind:?}")]
    Kind { line: Option<String>, kind: String },
    #[error("a [DONE] on a stream that has none")]
    Done,
    #[error("the stream does not end with [DONE]")]
    NotDone,
    #[error("something comes after [DONE]")]
    AfterDone,
}

/// The events of a Responses stream. Each has an `event:` line that equals its `type`; comments are skipped;
/// there is no `[DONE]`.
pub fn read_events(bytes: &[u8]) -> Result<Vec<Value>, FramingError> {
    let mut events = Vec::new();
    for frame in frames(bytes)? {
        if frame.data == "[DONE]" {
            return Err(FramingError::Done);
        }
        let event = parse(&frame.data)?;
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        if frame.event.as_deref() != Some(kind.as_str()) {
            return Err(FramingError::Kind { line: frame.event, kind });
        }
        events.push(event);
    }
    Ok(events)
}

/// The chunks of a Chat Completions stream, which has no `event:` lines and ends with `[DONE]`.
pub fn read_chunks(bytes: &[u8]) -> Result<Vec<Value>, FramingError> {
    let mut chunks = Vec::new();
    let mut done = false;
    for frame in frames(bytes)? {
        if done {
            return Err(FramingError::AfterDone);
        }
        if frame.data == "[DONE]" {
            done = true;
            continue;
        }
        if frame.event.is_some() {
            return Err(FramingError::Kind { line: frame.event, kind: String::new() });
        }
        chunks.push(parse(&frame.data)?);
    }
    if done { Ok(chunks) } else { Err(FramingError::NotDone) }
}

#[derive(Debug, Default)]
struct Frame {
    event: Option<String>,
    data: String,
}

fn frames(bytes: &[u8]) -> Result<Vec<Frame>, FramingError> {
    let text = std::str::from_utf8(bytes)?;
    let mut frames = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let Some((block, after)) = rest.split_once("\n\n") else {
            return Err(FramingError::Unfinished(rest.to_owned()));
        };
        rest = after;
        frames.extend(frame(block)?);
    }
    Ok(frames)
}

/// The event of a block of lines; none if it holds comments only.
fn frame(block: &str) -> Result<Option<Frame>, FramingError> {
    let mut frame = Frame::default();
    let mut data: Vec<&str> = Vec::new();
    let mut comments_only = true;
    for line in block.lines().filter(|line| !line.starts_with(':')) {
        comments_only = false;
        if let Some(event) = line.strip_prefix("event: ") {
            frame.event = Some(event.to_owned());
        } else if let Some(line) = line.strip_prefix("data: ") {
            data.push(line);
        } else {
            return Err(FramingError::Line(line.to_owned()));
        }
    }
    if comments_only {
        return Ok(None);
    }
    if data.is_empty() {
        return Err(FramingError::NoData(block.to_owned()));
    }
    frame.data = data.join("\n");
    Ok(Some(frame))
}

fn parse(data: &str) -> Result<Value, FramingError> {
    serde_json::from_str(data).map_err(|error| FramingError::Json { error, data: data.to_owned() })
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;
