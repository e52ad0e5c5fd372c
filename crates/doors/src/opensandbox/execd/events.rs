//! The lines of an answer that goes on while something runs: one JSON object each, and an empty line after it.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderName;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use sandgate_core::now_ms;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout_at};

use super::refusal::Refusal;
use crate::lent::add_line;

/// So often the client hears that it goes on.
pub(super) const PING: Duration = Duration::from_secs(3);
/// Lines that are at hand go out together, up to so many bytes.
pub(super) const TOGETHER: usize = 64 << 10;

#[derive(Debug, Default, Serialize)]
struct Line<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    execution_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    execution_time: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<&'a Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failure<'a>>,
    /// Milliseconds since 1970; clients drop a line without it.
    timestamp: u64,
}

#[derive(Debug, Serialize)]
struct Failure<'a> {
    ename: &'a str,
    evalue: &'a str,
    traceback: &'a [String],
}

fn add(lines: &mut Vec<u8>, line: &Line<'_>) {
    add_line(lines, line);
    lines.push(b'\n');
}

/// The first of all: under which name it runs.
pub(super) fn init(lines: &mut Vec<u8>, id: &str) {
    text(lines, "init", id);
    ping(lines);
}

pub(super) fn ping(lines: &mut Vec<u8>) {
    text(lines, "ping", "pong");
}

pub(super) fn stdout(lines: &mut Vec<u8>, said: &str) {
    text(lines, "stdout", said);
}

pub(super) fn stderr(lines: &mut Vec<u8>, said: &str) {
    text(lines, "stderr", said);
}

pub(super) fn status(lines: &mut Vec<u8>, word: &str) {
    text(lines, "status", word);
}

fn text(lines: &mut Vec<u8>, kind: &'static str, text: &str) {
    add(lines, &Line { kind, text: Some(text), timestamp: now_ms(), ..Line::default() });
}

pub(super) fn count(lines: &mut Vec<u8>, execution_count: u64) {
    let execution_count = Some(execution_count);
    add(lines, &Line { kind: "execution_count", execution_count, timestamp: now_ms(), ..Line::default() });
}

pub(super) fn result(lines: &mut Vec<u8>, results: &Map<String, Value>) {
    add(lines, &Line { kind: "result", results: Some(results), timestamp: now_ms(), ..Line::default() });
}

pub(super) fn error(lines: &mut Vec<u8>, ename: &str, evalue: &str, traceback: &[String]) {
    let error = Some(Failure { ename, evalue, traceback });
    add(lines, &Line { kind: "error", error, timestamp: now_ms(), ..Line::default() });
}

pub(super) fn complete(lines: &mut Vec<u8>, took: Duration) {
    // Nothing takes no time; a zero would be left out.
    let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX).max(1);
    let execution_time = Some(millis);
    add(lines, &Line { kind: "execution_complete", execution_time, timestamp: now_ms(), ..Line::default() });
}

/// What is refused after the answer began: a line that is no event.
pub(super) fn refused(lines: &mut Vec<u8>, refusal: &Refusal) {
    add_line(lines, refusal);
    lines.push(b'\n');
}

/// Something that goes on and has things to say.
pub(super) trait Tale: Send + 'static {
    /// Adds what there is to say next; true when that was the last. Stopping half-way loses nothing.
    fn more(&mut self, lines: &mut Vec<u8>) -> impl Future<Output = bool> + Send;
}

/// All of it as an answer, with a word now and then when nothing is said.
pub(super) fn tell(tale: impl Tale) -> Response {
    let pieces = stream::unfold(Some((tale, Instant::now())), async |state| {
        let (mut tale, heard) = state?;
        let mut lines = Vec::new();
        let mut over = false;
        while lines.is_empty() && !over {
            match timeout_at(heard + PING, tale.more(&mut lines)).await {
                Ok(was_last) => over = was_last,
                Err(_) => ping(&mut lines),
            }
        }
        let rest = (!over).then(|| (tale, Instant::now()));
        Some((Ok::<_, Infallible>(lines), rest))
    });
    answer(Body::from_stream(pieces))
}

pub(super) fn answer(body: Body) -> Response {
    let headers = [
        (CONTENT_TYPE, "text/event-stream"),
        (CACHE_CONTROL, "no-cache"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, body).into_response()
}
