//! The scripted model in the form of Chat Completions.

use super::client::{call, post};
use sandgate_testkit::{Schemas, ScriptedModel, Turn, read_chunks};
use serde_json::{Value, json};

const PATH: &str = "/v1/chat/completions";

fn ask(stream: bool) -> Value {
    let function = json!({"name": "python", "parameters": {"type": "object"}, "strict": true});
    json!({"model": "m", "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"type": "function", "function": function}], "stream": stream})
}

async fn scripted(turns: Value) -> ScriptedModel {
    let model = ScriptedModel::start().await.unwrap();
    model.script("k", serde_json::from_value::<Vec<Turn>>(turns).unwrap());
    model
}

async fn chunks(model: &ScriptedModel, request: &Value) -> Vec<Value> {
    let answer = post(model, PATH, "k", request).await;
    assert_eq!(answer.header("content-type"), Some("text/event-stream; charset=utf-8"));
    let chunks = read_chunks(&answer.body()).unwrap();
    for chunk in &chunks {
        Schemas::check("CreateChatCompletionStreamResponse", chunk).unwrap();
    }
    chunks
}

fn joined(chunks: &[Value], pointer: &str) -> String {
    chunks.iter().filter_map(|chunk| chunk.pointer(pointer)?.as_str()).collect()
}

#[tokio::test]
async fn calls_stream_as_fragments_of_their_arguments() {
    let items = json!([{"reasoning": "let me see"}, {"code": "1 + 1\n"}, {"call": {"name": "f", "arguments": "{\"a\":1}"}}]);
    let model = scripted(json!([{"items": items, "chunk": 3}])).await;
    let chunks = chunks(&model, &ask(true)).await;
    assert_eq!(chunks[0]["choices"][0]["delta"]["role"], "assistant");
    assert_eq!(joined(&chunks, "/choices/0/delta/reasoning_content"), "let me see");
    let calls: Vec<&Value> =
        chunks.iter().filter_map(|chunk| chunk.pointer("/choices/0/delta/tool_calls/0")).collect();
    let arguments = |index: u64| -> String {
        let of_it = calls.iter().filter(|call| call["index"] == index);
        of_it.filter_map(|call| call["function"]["arguments"].as_str()).collect()
    };
    assert_eq!(arguments(0), r#"{"code":"1 + 1\n"}"#);
    assert_eq!(arguments(1), r#"{"a":1}"#);
    assert_eq!(calls[0]["function"]["name"], "python");
    assert_eq!(chunks.last().unwrap()["choices"][0]["finish_reason"], "tool_calls");
    assert!(chunks.iter().all(|chunk| chunk.get("usage").is_none()));
}

#[tokio::test]
async fn usage_comes_in_a_chunk_of_its_own_when_asked_for() {
    let model = scripted(json!([{"items": [{"text": "Hello there"}], "status": "incomplete",
        "usage": {"input_tokens": 3, "output_tokens": 4}}]))
    .await;
    let mut request = ask(true);
    request["stream_options"] = json!({"include_usage": true});
    let chunks = chunks(&model, &request).await;
    assert_eq!(joined(&chunks, "/choices/0/delta/content"), "Hello there");
    let [.., finish, usage] = chunks.as_slice() else { panic!("too few chunks") };
    assert_eq!(finish["choices"][0]["finish_reason"], "length");
    assert_eq!(usage["choices"], json!([]));
    assert_eq!(usage["usage"]["total_tokens"], 7);
}

#[tokio::test]
async fn the_whole_completion_says_the_same() {
    let items = json!([{"reasoning": "hm"}, {"text": "Hi. "}, {"text": "Running."}, {"code": "1"},
        {"custom_call": {"name": "c", "input": "i"}}]);
    let model =
        scripted(json!([{"items": items}, {"items": [{"refusal": "no"}]}, {"status": "failed"}])).await;
    let whole = post(&model, PATH, "k", &ask(false)).await.json();
    Schemas::check("CreateChatCompletionResponse", &whole).unwrap();
    let message = &whole["choices"][0]["message"];
    assert_eq!(message["content"], "Hi. Running.");
    assert_eq!(message["reasoning_content"], "hm");
    assert_eq!(message["tool_calls"][0]["function"]["arguments"], r#"{"code":"1"}"#);
    assert_eq!(message["tool_calls"][1]["custom"]["input"], "i");
    let refused = post(&model, PATH, "k", &ask(false)).await.json();
    assert_eq!(refused["choices"][0]["message"]["refusal"], "no");
    assert_eq!(post(&model, PATH, "k", &ask(false)).await.status, 500);
}

#[tokio::test]
async fn call_ids_come_back_with_their_results() {
    let model = scripted(json!([{"items": [{"code": "1"}]}, {"items": [{"text": "done"}]}])).await;
    let first = post(&model, PATH, "k", &ask(false)).await.json();
    let message = first["choices"][0]["message"].clone();
    let id = message["tool_calls"][0]["id"].clone();
    let mut second = ask(false);
    second["messages"] = json!([{"role": "user", "content": "hi"},
        {"role": "assistant", "content": null, "tool_calls": message["tool_calls"]},
        {"role": "tool", "tool_call_id": id, "content": "1"}]);
    assert_eq!(post(&model, PATH, "k", &second).await.status, 200);
    second["messages"][2]["tool_call_id"] = json!("call_other");
    assert_eq!(post(&model, PATH, "k", &second).await.status, 400);
    assert_eq!(model.violations_of("k").len(), 1);
}

#[tokio::test]
async fn what_chat_cannot_say_is_a_fault_of_the_script() {
    let model = scripted(json!([{"items": [{"item": {"type": "web_search_call"}}]}])).await;
    assert_eq!(post(&model, PATH, "k", &ask(false)).await.status, 500);
    assert!(model.violations()[0].message.contains("web_search_call"));
    assert_eq!(call(&model, "GET /v1/nothing", "k", "").await.status, 404);
}
