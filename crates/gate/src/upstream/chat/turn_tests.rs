//! Turns in the form of Chat Completions: what goes up, and what comes of good and bad answers.

use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::upstream::test_server::{Answer, EVENTS_HEAD, Server, answer, chunk, events_answer, json_answer};
use crate::upstream::{
    Connection, ConnectionConfig, Credentials, ResponsesUpstream, TurnRequest, Upstream, UpstreamError,
};

const TEXT: &str =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":null}]}\n\n";
const STOP: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const USAGE: &str = "data: {\"choices\":[],\"usage\":{\"total_tokens\":3}}\n\n";
const DONE: &str = "data: [DONE]\n\n";

fn request(body: Value, stream: bool, retries: u32) -> TurnRequest {
    let Value::Object(body) = body else { panic!("{body}") };
    TurnRequest {
        body,
        credentials: Credentials::default(),
        stream,
        request_id: "req_1".to_owned(),
        retries,
        asked: crate::upstream::Asked::default(),
    }
}

/// What was asked, and what came.
async fn turn(
    answers: Vec<Answer>,
    request: TurnRequest,
) -> (Vec<Value>, Result<Vec<Result<Value, UpstreamError>>, UpstreamError>) {
    let server = Server::start(answers).await;
    // Servers with the Responses API have this one too.
    let upstream = ResponsesUpstream::new(Connection::new(ConnectionConfig::new(&server.base)).unwrap());
    let came = match upstream.chat_turn(request).await {
        Ok(turn) => Ok(turn.events.collect().await),
        Err(error) => Err(error),
    };
    let asked = server.asked();
    assert!(asked.iter().all(|asked| asked.line().starts_with("POST /v1/chat/completions ")), "{asked:?}");
    (asked.iter().map(|asked| serde_json::from_slice(&asked.body).unwrap()).collect(), came)
}

fn streamed(text: &str) -> Vec<Answer> {
    vec![events_answer(text.as_bytes(), 7)]
}

#[tokio::test]
async fn chunks_come_as_they_are_and_counts_are_asked_for() {
    let asked = request(json!({"stream": true, "messages": [], "stream_options": {"a": 1}}), true, 0);
    let (asked, came) = turn(streamed(&[TEXT, STOP, USAGE, DONE].concat()), asked).await;
    assert_eq!(asked[0]["stream_options"], json!({"a": 1, "include_usage": true}));
    let came: Vec<Value> = came.unwrap().into_iter().map(Result::unwrap).collect();
    assert_eq!(came.len(), 3);
    assert_eq!(came[0]["choices"][0]["delta"], json!({"content": "hi"}));
    assert_eq!(came[2]["usage"]["total_tokens"], 3);
}

#[tokio::test]
async fn a_request_that_does_not_stream_is_left_as_it_is() {
    let body = json!({"model": "m", "messages": [], "stream": false});
    let calls = json!([{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]);
    let whole = json!({"id": "c", "choices": [{"index": 0, "finish_reason": "tool_calls", "logprobs": null,
        "message": {"role": "assistant", "content": "hi", "tool_calls": calls}}]});
    let (asked, came) = turn(vec![json_answer(&whole)], request(body.clone(), false, 0)).await;
    assert_eq!(asked[0], body);
    let came = came.unwrap();
    let chunk = came[0].as_ref().unwrap();
    assert_eq!(chunk["choices"][0]["delta"]["content"], "hi");
    assert_eq!(chunk["choices"][0]["delta"]["tool_calls"][0]["index"], 0);
    assert!(chunk["choices"][0].get("message").is_none());
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_an_error() {
    let broken = |text: &str| {
        let mut bytes = EVENTS_HEAD.as_bytes().to_vec();
        bytes.extend(chunk(text.as_bytes()));
        vec![Answer::ThenClose(bytes)]
    };
    for answers in [streamed(TEXT), streamed(DONE), broken(TEXT), streamed("data: no\n\n")] {
        let (_, came) = turn(answers, request(json!({}), true, 0)).await;
        let last = came.unwrap().pop().unwrap();
        assert!(matches!(last, Err(UpstreamError::Broken(_))), "{last:?}");
    }
    // All was said before it broke.
    for answers in
        [streamed(&[TEXT, STOP].concat()), broken(&[TEXT, STOP].concat()), streamed(&[TEXT, DONE].concat())]
    {
        let (_, came) = turn(answers, request(json!({}), true, 0)).await;
        assert!(came.unwrap().iter().all(Result::is_ok));
    }
}

#[tokio::test]
async fn an_error_in_the_place_of_a_chunk_is_the_last() {
    let error = "data: {\"error\":{\"message\":\"overloaded\",\"code\":529}}\n\n";
    let (_, came) = turn(streamed(&[TEXT, error, STOP].concat()), request(json!({}), true, 0)).await;
    let came: Vec<Value> = came.unwrap().into_iter().map(Result::unwrap).collect();
    assert_eq!(came.len(), 2);
    assert_eq!(came[1]["error"]["message"], "overloaded");
    let (_, came) = turn(vec![json_answer(&json!({"error": "no"}))], request(json!({}), false, 0)).await;
    assert_eq!(came.unwrap()[0].as_ref().unwrap()["error"]["message"], "no");
}

#[tokio::test]
async fn refusals_and_second_tries_are_those_of_every_turn() {
    let refusal = || answer("400 Bad Request", "content-type: application/json\r\n", "{\"error\":{}}");
    let (_, came) = turn(vec![refusal()], request(json!({}), true, 2)).await;
    assert!(matches!(came, Err(UpstreamError::Status { status, .. }) if status == 400));
    let busy = answer("503 Service Unavailable", "retry-after-ms: 1\r\n", "");
    let answers = vec![busy, events_answer([TEXT, STOP, DONE].concat().as_bytes(), 50)];
    let (asked, came) = turn(answers, request(json!({}), true, 2)).await;
    assert_eq!((asked.len(), came.unwrap().len()), (2, 2));
}
