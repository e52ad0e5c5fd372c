//! From a request to its answer: noted, checked, and answered with the next turn of the script.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request as HttpRequest, Response, StatusCode, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::delivery::{Part, body};
use crate::ids::{hex, now_ms};
use crate::record::{Record, Request, Watch};
use crate::rules;
use crate::script::Turn;
use crate::spoken::{Spoken, say_chat, say_response};

const ANONYMOUS: &str = "anonymous";

/// A request that has been noted.
#[derive(Debug)]
struct Noted {
    key: String,
    path: String,
    body: Option<Map<String, Value>>,
    watch: Watch,
}

pub(crate) async fn responses(State(record): State<Record>, parts: Parts, bytes: Bytes) -> Response<Body> {
    let noted = note(&record, &parts, &bytes);
    speak(record, noted, rules::check_responses, say_response).await
}

pub(crate) async fn chat_completions(
    State(record): State<Record>,
    parts: Parts,
    bytes: Bytes,
) -> Response<Body> {
    let noted = note(&record, &parts, &bytes);
    speak(record, noted, rules::check_chat, say_chat).await
}

/// The list of models, unless the script has something else to say about it.
pub(crate) async fn models(State(record): State<Record>, parts: Parts, bytes: Bytes) -> Response<Body> {
    let mut noted = note(&record, &parts, &bytes);
    if let Some(turn) = record.next_turn(&noted.key, &noted.path, false) {
        return deliver(Spoken::default(), &turn, noted.watch).await;
    }
    noted.watch.over();
    let model =
        |id: &str| json!({"id": id, "object": "model", "created": 1_780_000_000, "owned_by": "openai"});
    plain(StatusCode::OK, &json!({"object": "list", "data": [model("gpt-5.6-sol"), model("gpt-5.6-luna")]}))
}

/// Any other path: what the script says for it, or what the real service says of an unknown one.
pub(crate) async fn other(State(record): State<Record>, request: HttpRequest<Body>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    let mut noted = note(&record, &parts, &bytes);
    if let Some(turn) = record.next_turn(&noted.key, &noted.path, false) {
        return deliver(Spoken::default(), &turn, noted.watch).await;
    }
    noted.watch.over();
    let message = format!("Invalid URL ({} {})", parts.method, noted.path);
    error(StatusCode::NOT_FOUND, &message, None)
}

type Check = fn(&Map<String, Value>, &rules::Known) -> Result<(), rules::Refusal>;
type Say = fn(&Map<String, Value>, &Turn) -> Result<Spoken, String>;

async fn speak(record: Record, mut noted: Noted, check: Check, say: Say) -> Response<Body> {
    let turn = record.next_turn(&noted.key, &noted.path, true);
    let known = rules::Known {
        given: record.given(&noted.key),
        foreign: turn.as_ref().is_some_and(|turn| turn.foreign),
    };
    let checked = match &noted.body {
        Some(request) => check(request, &known),
        None => Err(rules::Refusal::new("the body is not a JSON object", None)),
    };
    if let Err(refusal) = checked {
        noted.watch.over();
        record.violated(&noted.key, &noted.path, &refusal.message);
        return error(StatusCode::BAD_REQUEST, &refusal.message, Some((refusal.param, "schema_violation")));
    }
    let spoken = turn.map(|turn| (say(&noted.body.unwrap_or_default(), &turn), turn));
    let (message, watch) = match spoken {
        Some((Ok(spoken), turn)) => {
            record.gave(&noted.key, spoken.ids.iter().cloned());
            return deliver(spoken, &turn, noted.watch).await;
        }
        Some((Err(message), _)) => (message, &mut noted.watch),
        None => ("the script has no turn left for this request".to_owned(), &mut noted.watch),
    };
    watch.over();
    record.violated(&noted.key, &noted.path, &message);
    error(StatusCode::INTERNAL_SERVER_ERROR, &message, None)
}

async fn deliver(spoken: Spoken, turn: &Turn, mut watch: Watch) -> Response<Body> {
    tokio::time::sleep(Duration::from_millis(turn.delay_ms)).await;
    let (parts, kind) = match literal_body(turn) {
        Some(Ok(literal)) => literal,
        Some(Err(message)) => {
            watch.over();
            return error(StatusCode::INTERNAL_SERVER_ERROR, &message, None);
        }
        None => (spoken.parts, spoken.content_type),
    };
    let status = turn.http.as_ref().map_or(spoken.status, |http| http.status);
    let mut response = Response::new(body(parts, turn, watch));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    usual_headers(headers, kind);
    for (name, value) in turn.http.iter().flat_map(|http| &http.headers) {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(value)) {
            headers.insert(name, value);
        }
    }
    response
}

/// The body the script spells out, if it does.
fn literal_body(turn: &Turn) -> Option<Result<(Vec<Part>, &'static str), String>> {
    if let Some(text) = &turn.raw_base64 {
        let decoded = STANDARD.decode(text);
        return Some(match decoded {
            Ok(bytes) => Ok((vec![Part::new(bytes)], EVENT_STREAM)),
            Err(error) => Err(format!("the script's raw_base64 is not base64: {error}")),
        });
    }
    if let Some(raw) = &turn.raw {
        return Some(Ok((vec![Part::new(raw.clone())], EVENT_STREAM)));
    }
    let body = turn.http.as_ref()?.body.as_ref()?;
    let text = body.as_str().map_or_else(|| body.to_string(), str::to_owned);
    Some(Ok((vec![Part::new(text)], JSON)))
}

pub(crate) const EVENT_STREAM: &str = "text/event-stream; charset=utf-8";
pub(crate) const JSON: &str = "application/json";

fn note(record: &Record, parts: &Parts, bytes: &Bytes) -> Noted {
    let text = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = text("authorization").and_then(|value| value.strip_prefix("Bearer "));
    let key = bearer.or_else(|| text("api-key")).unwrap_or(ANONYMOUS).to_owned();
    let path = parts.uri.path().to_owned();
    let headers = parts.headers.keys().map(|name| {
        let values = parts.headers.get_all(name).iter();
        let values: Vec<_> = values.map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
        (name.to_string(), values.join(", "))
    });
    let body: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let request = Request {
        method: parts.method.to_string(),
        path: path.clone(),
        query: parts.uri.query().map(str::to_owned),
        headers: headers.collect(),
        body: body.clone(),
        text: String::from_utf8_lossy(bytes).into_owned(),
        at_ms: now_ms(),
        hung_up: false,
    };
    let watch = record.received(&key, request);
    Noted { key, path, body: if let Value::Object(body) = body { Some(body) } else { None }, watch }
}

fn usual_headers(headers: &mut HeaderMap, content_type: &'static str) {
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert("openai-version", HeaderValue::from_static("2020-10-01"));
    headers.insert("openai-processing-ms", HeaderValue::from_static("12"));
    if let Ok(id) = HeaderValue::from_str(&format!("req_{}", hex(32))) {
        headers.insert("x-request-id", id);
    }
}

fn plain(status: StatusCode, body: &Value) -> Response<Body> {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    usual_headers(response.headers_mut(), JSON);
    response
}

fn error(status: StatusCode, message: &str, refusal: Option<(Option<String>, &str)>) -> Response<Body> {
    let kind = if status.is_server_error() { "server_error" } else { "invalid_request_error" };
    let (param, code) = refusal.map_or((None, None), |(param, code)| (param, Some(code)));
    plain(status, &json!({"error": {"message": message, "type": kind, "param": param, "code": code}}))
}
