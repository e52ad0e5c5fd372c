//! An upstream that speaks the Responses API, over real sockets.

use std::time::Duration;

use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::upstream::test_server::{Answer, EVENTS_HEAD, Server, answer, chunk, events_answer, json_answer};
use crate::upstream::{
    Connection, ConnectionConfig, Credentials, ResponsesUpstream, Turn, TurnRequest, Upstream, UpstreamError,
};

const DONE: &str = "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{}}\n\n";
const CREATED: &str = "event: response.created\ndata: {\"type\":\"response.created\"}\n\n";

fn upstream(server: &Server) -> ResponsesUpstream {
    ResponsesUpstream::new(Connection::new(ConnectionConfig::new(&server.base)).unwrap())
}

fn request(retries: u32) -> TurnRequest {
    let Value::Object(body) = json!({"model": "m", "input": "hi"}) else { unreachable!() };
    TurnRequest {
        body,
        credentials: Credentials::default(),
        stream: true,
        request_id: "req_1".to_owned(),
        retries,
        asked: crate::upstream::Asked::default(),
    }
}

async fn outcome(answers: Vec<Answer>) -> Vec<Result<Value, UpstreamError>> {
    let server = Server::start(answers).await;
    match upstream(&server).turn(request(0)).await {
        Ok(turn) => turn.events.collect().await,
        Err(error) => vec![Err(error)],
    }
}

fn kinds(events: &[Result<Value, UpstreamError>]) -> Vec<String> {
    let kind = |event: &Result<Value, UpstreamError>| match event {
        Ok(event) => event["type"].as_str().unwrap_or("?").to_owned(),
        Err(error) => error.to_string(),
    };
    events.iter().map(kind).collect()
}

#[tokio::test]
async fn events_pass_through_however_they_are_cut() {
    let trace = include_bytes!("../../../testkit/traces/4_image_output.sse");
    let count = trace.windows(6).filter(|six| six == b"\ndata:").count();
    for size in [1, 7, 1000, usize::MAX] {
        let events = outcome(vec![events_answer(trace, size.min(trace.len()))]).await;
        assert_eq!(events.len(), count);
        let numbers: Vec<u64> =
            events.iter().map(|event| event.as_ref().unwrap()["sequence_number"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (0..count as u64).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn the_request_is_a_streaming_create() {
    let server = Server::start(vec![events_answer(DONE.as_bytes(), 10)]).await;
    let Turn { events, .. } = upstream(&server).turn(request(0)).await.unwrap();
    assert_eq!(events.count().await, 1);
    let asked = &server.asked()[0];
    assert_eq!(asked.line(), "POST /v1/responses HTTP/1.1");
    assert_eq!(asked.header("content-type"), Some("application/json"));
    assert_eq!(asked.header("x-client-request-id"), Some("req_1"));
    assert_eq!(asked.header("authorization"), None);
    let body: Value = serde_json::from_slice(&asked.body).unwrap();
    assert_eq!(body, json!({"model": "m", "input": "hi", "stream": true}));
}

#[tokio::test]
async fn json_in_place_of_events_becomes_events() {
    let whole =
        json!({"id": "resp_1", "object": "response", "status": "completed", "output": [], "usage": null});
    assert_eq!(
        kinds(&outcome(vec![json_answer(&whole)]).await),
        ["response.created", "response.in_progress", "response.completed"]
    );
}

#[tokio::test]
async fn an_end_without_a_last_event_is_broken() {
    for text in ["", CREATED, "data: [DONE]\n\n"] {
        let events = outcome(vec![events_answer(text.as_bytes(), 100)]).await;
        let last = kinds(&events).pop().unwrap();
        assert!(last.contains("ended without response.completed"), "{last}");
    }
    let cut = format!("{EVENTS_HEAD}{}", String::from_utf8(chunk(CREATED.as_bytes())).unwrap());
    let last = kinds(&outcome(vec![Answer::ThenClose(cut.into_bytes())]).await).pop().unwrap();
    assert!(last.contains("the connection ended early"), "{last}");
}

#[tokio::test]
async fn damaged_events_are_told_in_words() {
    let cases: [(&[u8], &str); 5] = [
        (b"data: {\"type\":\"x", "middle of an event"),
        (b"data: {\"type\":\n\n", "not JSON"),
        (b"data: 7\n\n", "not a JSON object"),
        (b"data: {\"type\":\"\xff\"}\n\n", "UTF-8"),
        (b"data: {\"a\":1}\n\n", "no type"),
    ];
    for (damage, words) in cases {
        let mut text = CREATED.as_bytes().to_vec();
        text.extend_from_slice(damage);
        let events = outcome(vec![events_answer(&text, 1 << 20)]).await;
        assert_eq!(events.len(), 2, "what came before is given out, nothing follows");
        assert!(events[0].is_ok());
        let error = events[1].as_ref().unwrap_err();
        assert!(matches!(error, UpstreamError::Broken(text) if text.contains(words)), "{error}");
    }
}

#[tokio::test]
async fn an_error_event_is_an_end() {
    let bare = b"data: {\"error\":{\"message\":\"no\"}}\n\n";
    assert_eq!(kinds(&outcome(vec![events_answer(bare, 5)]).await), ["error"]);
    let real = b"event: error\ndata: {\"type\":\"error\",\"error\":{}}\n\nevent: response.failed\ndata: {\"response\":{}}\n\n";
    assert_eq!(kinds(&outcome(vec![events_answer(real, 5)]).await), ["error", "response.failed"]);
}

#[tokio::test]
async fn a_page_in_place_of_an_answer_is_told() {
    let page = answer("200 OK", "content-type: text/html\r\n", "<html></html>");
    assert!(kinds(&outcome(vec![page]).await)[0].contains("text/html"));
}

#[tokio::test]
async fn a_refusal_keeps_its_status_body_and_useful_headers() {
    let body = r#"{"error": {"message": "slow down"}}"#;
    let headers = "retry-after: 3\r\nx-request-id: r1\r\nx-ratelimit-limit-requests: 5\r\nset-cookie: a=b\r\ncontent-type: application/json\r\n";
    let events = outcome(vec![answer("429 Too Many", headers, body)]).await;
    let Err(UpstreamError::Status { status, headers, body: kept }) = &events[0] else { panic!("{events:?}") };
    assert_eq!(status.as_u16(), 429);
    assert_eq!(kept, body);
    assert_eq!(headers["retry-after"], "3");
    assert_eq!(headers["x-request-id"], "r1");
    assert_eq!(headers["content-type"], "application/json");
    assert_eq!(headers.len(), 4);
}

#[tokio::test]
async fn a_later_turn_gets_over_a_reset_and_a_short_outage() {
    let busy = answer("503 Busy", "retry-after-ms: 1\r\n", "");
    let good = events_answer(DONE.as_bytes(), 100);
    let server = Server::start(vec![Answer::ThenClose(Vec::new()), busy, good]).await;
    let turn = upstream(&server).turn(request(2)).await.unwrap();
    assert_eq!(kinds(&turn.events.collect::<Vec<_>>().await), ["response.completed"]);
    assert_eq!(server.asked().len(), 3);
}

#[tokio::test]
async fn turns_that_end_use_one_connection() {
    let server = Server::start(vec![events_answer(DONE.as_bytes(), 9); 4]).await;
    let upstream = upstream(&server);
    for _ in 0..4 {
        let turn = upstream.turn(request(0)).await.unwrap();
        assert_eq!(turn.events.count().await, 1);
        // The end of the body is read in the background.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_stream_that_is_dropped_closes_its_connection() {
    let begun = format!("{EVENTS_HEAD}{}", String::from_utf8(chunk(CREATED.as_bytes())).unwrap());
    let mut server = Server::start(vec![Answer::ThenSilence(begun.into_bytes())]).await;
    let mut turn = upstream(&server).turn(request(0)).await.unwrap();
    assert!(turn.events.next().await.unwrap().is_ok());
    drop(turn);
    server.hang_up().await;
}

#[tokio::test]
async fn a_turn_that_is_dropped_before_its_answer_closes_its_connection() {
    let mut server = Server::start(vec![Answer::ThenSilence(Vec::new())]).await;
    let upstream = upstream(&server);
    let waiting = tokio::time::timeout(Duration::from_millis(50), upstream.turn(request(0)));
    assert!(waiting.await.is_err());
    server.hang_up().await;
}

#[tokio::test]
async fn silence_has_a_bound() {
    let begun = format!("{EVENTS_HEAD}{}", String::from_utf8(chunk(CREATED.as_bytes())).unwrap());
    let server =
        Server::start(vec![Answer::ThenSilence(begun.into_bytes()), Answer::ThenSilence(Vec::new())]).await;
    let config =
        ConnectionConfig { read_timeout: Duration::from_millis(100), ..ConnectionConfig::new(&server.base) };
    let upstream = ResponsesUpstream::new(Connection::new(config).unwrap());
    let events: Vec<_> = upstream.turn(request(0)).await.unwrap().events.collect().await;
    assert!(matches!(events[1], Err(UpstreamError::TimedOut { .. })), "{events:?}");
    let outcome = upstream.turn(request(0)).await;
    assert!(matches!(outcome, Err(UpstreamError::TimedOut { .. })), "{outcome:?}");
}

#[tokio::test]
async fn the_list_of_models_is_passed_on() {
    let list = json!({"object": "list", "data": [{"id": "m"}]});
    let server = Server::start(vec![json_answer(&list)]).await;
    assert_eq!(upstream(&server).models(&Credentials::default()).await.unwrap(), list);
    assert_eq!(server.asked()[0].line(), "GET /v1/models HTTP/1.1");
}
