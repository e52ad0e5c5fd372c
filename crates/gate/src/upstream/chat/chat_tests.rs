//! A chat server behind the Responses form of a turn, over a real socket.

use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::upstream::test_schemas::{check, check_events};
use crate::upstream::test_server::{Answer, EVENTS_HEAD, Server, answer, chunk, events_answer, json_answer};
use crate::upstream::{
    ChatOptions, ChatUpstream, Connection, ConnectionConfig, Credentials, TurnRequest, Upstream,
    UpstreamError,
};

fn upstream(server: &Server) -> ChatUpstream {
    ChatUpstream::new(Connection::new(ConnectionConfig::new(&server.base)).unwrap(), ChatOptions::default())
}

fn request(stream: bool) -> TurnRequest {
    let Value::Object(body) = json!({"model": "m", "input": "hi", "instructions": "Be brief."}) else {
        panic!()
    };
    TurnRequest {
        body,
        credentials: Credentials::default(),
        stream,
        request_id: "req_1".to_owned(),
        retries: 0,
        asked: crate::upstream::Asked::default(),
    }
}

async fn turn(server: &Server, stream: bool) -> Vec<Result<Value, UpstreamError>> {
    match upstream(server).turn(request(stream)).await {
        Ok(turn) => turn.events.collect().await,
        Err(error) => vec![Err(error)],
    }
}

fn chunks(end: &str) -> String {
    let chunk = |delta: Value, reason: Value| {
        format!(
            "data: {}\n\n",
            json!({"model": "served", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
        )
    };
    format!(
        ": hello\n\n{}{}{}{end}",
        chunk(json!({"role": "assistant"}), Value::Null),
        chunk(json!({"content": "Hallo, Welt ü"}), Value::Null),
        chunk(json!({}), json!("stop")),
    )
}

#[tokio::test]
async fn a_turn_over_a_real_connection() {
    let usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2,\"total_tokens\":3}}\n\n";
    for end in ["", "data: [DONE]\n\n", usage, &format!("{usage}data: [DONE]\n\n"), "data: [DO"] {
        for size in [1, 1000] {
            let server = Server::start(vec![events_answer(chunks(end).as_bytes(), size)]).await;
            let events: Vec<Value> = turn(&server, true).await.into_iter().map(Result::unwrap).collect();
            check_events(&events);
            let last = events.last().unwrap();
            assert_eq!(last["type"], "response.completed");
            assert_eq!(last["response"]["output"][0]["content"][0]["text"], "Hallo, Welt ü");
            let asked = &server.asked()[0];
            assert_eq!(asked.line(), "POST /v1/chat/completions HTTP/1.1");
            check("CreateChatCompletionRequest", &serde_json::from_slice(&asked.body).unwrap());
        }
    }
}

#[tokio::test]
async fn a_whole_completion_becomes_events() {
    let message = json!({"role": "assistant", "content": "Hi."});
    let whole = json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
    let server = Server::start(vec![json_answer(&whole)]).await;
    let events: Vec<Value> = turn(&server, false).await.into_iter().map(Result::unwrap).collect();
    check_events(&events);
    assert_eq!(events.last().unwrap()["response"]["output"][0]["content"][0]["text"], "Hi.");
    let body: Value = serde_json::from_slice(&server.asked()[0].body).unwrap();
    assert_eq!(body["stream"], false);
}

#[tokio::test]
async fn a_connection_that_is_cut_is_told_once() {
    let begun = chunks("").replace("\"stop\"", "null");
    let cut = format!("{EVENTS_HEAD}{}", String::from_utf8(chunk(begun.as_bytes())).unwrap());
    let server =
        Server::start(vec![Answer::ThenClose(cut.into_bytes()), events_answer(begun.as_bytes(), 50)]).await;
    for _ in 0..2 {
        let events = turn(&server, true).await;
        assert!(matches!(events.last(), Some(Err(UpstreamError::Broken(_)))), "{events:?}");
        assert_eq!(events.iter().filter(|event| event.is_err()).count(), 1);
    }
}

#[tokio::test]
async fn a_stream_that_is_dropped_closes_its_connection() {
    let begun = chunks("").replace("\"stop\"", "null");
    let begun = format!("{EVENTS_HEAD}{}", String::from_utf8(chunk(begun.as_bytes())).unwrap());
    let mut server = Server::start(vec![Answer::ThenSilence(begun.into_bytes())]).await;
    let mut turn = upstream(&server).turn(request(true)).await.unwrap();
    assert!(turn.events.next().await.unwrap().is_ok());
    drop(turn);
    server.hang_up().await;
}

#[tokio::test]
async fn refusals_of_both_sides_are_statuses() {
    let server =
        Server::start(vec![answer("404 Not Found", "content-type: application/json\r\n", "{}")]).await;
    let events = turn(&server, true).await;
    assert!(matches!(&events[0], Err(UpstreamError::Status { status, .. }) if status.as_u16() == 404));
    let mut refused = request(true);
    refused.body.insert("tools".to_owned(), json!([{"type": "web_search"}]));
    let error = upstream(&server).turn(refused).await.unwrap_err();
    assert!(matches!(&error, UpstreamError::Status { status, .. } if status.as_u16() == 400));
    assert_eq!(server.asked().len(), 1, "what cannot be said is not sent");
}

#[tokio::test]
async fn everything_but_responses_is_passed_on() {
    let server = Server::start(vec![]).await;
    let upstream = upstream(&server);
    for path in ["/v1/chat/completions", "/v1/embeddings", "/v1/responsesque"] {
        assert!(upstream.forwards(path), "{path}");
    }
    for path in ["/v1/responses", "/v1/responses/resp_1/cancel"] {
        assert!(!upstream.forwards(path), "{path}");
        let request = ::http::Request::get(path).body(crate::upstream::body_of("")).unwrap();
        assert!(matches!(upstream.forward(request).await, Err(UpstreamError::Unsupported(_))));
    }
}
