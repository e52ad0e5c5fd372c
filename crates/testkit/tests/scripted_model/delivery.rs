//! How the scripted model delivers: cut, slow, broken off, with another status, and what it knows of the client.

use std::time::{Duration, Instant};

use super::client::{call, post, send};
use sandgate_testkit::{ScriptedModel, Turn, read_events};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;

const PATH: &str = "/v1/responses";

async fn scripted(turns: Value) -> ScriptedModel {
    let model = ScriptedModel::start().await.unwrap();
    model.script("k", serde_json::from_value::<Vec<Turn>>(turns).unwrap());
    model
}

fn ask() -> Value {
    json!({"model": "m", "input": "hi", "stream": true})
}

#[tokio::test]
async fn writes_have_the_size_that_was_asked_for_and_cut_through_characters() {
    for size in [1, 2, 3, 7] {
        let model = scripted(json!([{"items": [{"text": "größe 😀😀"}], "bytes": size, "chunk": 2}])).await;
        let answer = post(&model, PATH, "k", &ask()).await;
        let (last, others) = answer.chunks.split_last().unwrap();
        assert!(others.iter().all(|chunk| chunk.len() == size) && last.len() <= size);
        assert!(answer.chunks.iter().any(|chunk| std::str::from_utf8(chunk).is_err()));
        let events = read_events(&answer.body()).unwrap();
        let text: String = events.iter().filter_map(|event| event["delta"].as_str()).collect();
        assert_eq!(text, "größe 😀😀");
        assert!(!model.requests("k")[0].hung_up);
    }
}

#[tokio::test]
async fn a_turn_that_is_cut_breaks_the_connection_after_so_many_events() {
    let model = scripted(json!([{"items": [{"text": "Hello"}], "cut_after": 3}])).await;
    let answer = post(&model, PATH, "k", &ask()).await;
    assert!(answer.broken);
    assert_eq!(read_events(&answer.body()).unwrap().len(), 3);
    assert!(!model.requests("k")[0].hung_up);
}

#[tokio::test]
async fn errors_headers_and_raw_bytes_go_out_as_written() {
    let model = scripted(json!([
        {"http": {"status": 429, "headers": {"retry-after": "3"}, "body": {"error": {"message": "slow down"}}}},
        {"http": {"status": 502, "headers": {"content-type": "text/html"}, "body": "<h1>bad</h1>"}},
        {"http": {"headers": {"x-request-id": "req_mine"}}, "items": [{"text": "fine"}]},
        {"raw": "event: nonsense\n\nhalf"},
        {"raw_base64": "/w==", "bytes": 1},
        {"path": "/v1/embeddings", "http": {"body": {"object": "list"}}},
    ]))
    .await;
    let limited = post(&model, PATH, "k", &ask()).await;
    assert_eq!((limited.status, limited.header("retry-after")), (429, Some("3")));
    assert_eq!(limited.json()["error"]["message"], "slow down");
    let html = post(&model, PATH, "k", &ask()).await;
    assert_eq!((html.status, html.header("content-type")), (502, Some("text/html")));
    assert_eq!(html.body(), b"<h1>bad</h1>");
    let fine = post(&model, PATH, "k", &ask()).await;
    assert_eq!(fine.header("x-request-id"), Some("req_mine"));
    assert_eq!(read_events(&fine.body()).unwrap().last().unwrap()["type"], "response.completed");
    assert_eq!(post(&model, PATH, "k", &ask()).await.body(), b"event: nonsense\n\nhalf");
    assert_eq!(post(&model, PATH, "k", &ask()).await.body(), [0xff]);
    assert_eq!(model.turns_left("k"), 1);
    assert_eq!(call(&model, "POST /v1/embeddings", "k", "{}").await.json()["object"], "list");
    assert_eq!(call(&model, "POST /v1/embeddings", "k", "{}").await.status, 404);
    assert!(model.violations().is_empty());
}

#[tokio::test]
async fn delays_are_kept() {
    let model =
        scripted(json!([{"items": [{"text": "abcd"}], "chunk": 1, "delay_ms": 60, "delta_delay_ms": 20}]))
            .await;
    let start = Instant::now();
    post(&model, PATH, "k", &ask()).await;
    assert!(start.elapsed() >= Duration::from_millis(140));
}

#[tokio::test]
async fn a_client_that_leaves_before_the_end_has_hung_up() {
    let model = scripted(json!([
        {"items": [{"text": "too slow"}], "delta_delay_ms": 60_000},
        {"items": [{"text": "slower still"}], "delay_ms": 60_000},
    ]))
    .await;
    let mut mid_stream = send(&model, &format!("POST {PATH}"), "k", &ask().to_string()).await;
    let mut some = [0; 64];
    mid_stream.read_exact(&mut some).await.unwrap();
    assert!(!model.requests("k")[0].hung_up);
    drop(mid_stream);
    wait_until_hung_up(&model, 0).await;

    let waiting = send(&model, &format!("POST {PATH}"), "k", &ask().to_string()).await;
    while model.requests("k").len() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(waiting);
    wait_until_hung_up(&model, 1).await;
}

async fn wait_until_hung_up(model: &ScriptedModel, request: usize) {
    let noticed = async {
        while !model.requests("k")[request].hung_up {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), noticed).await.unwrap();
}
