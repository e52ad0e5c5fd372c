//! The scripted model in the Responses form: its own streams hold to the schema, its checks bite.

use super::client::{Answer, call, post};
use sandgate_testkit::{Item, Schemas, ScriptedModel, Turn, normalise, read_events};
use serde_json::{Value, json};

const PATH: &str = "/v1/responses";

fn turns(turns: Value) -> Vec<Turn> {
    serde_json::from_value(turns).unwrap()
}

fn python() -> Value {
    json!({"type": "function", "name": "python", "parameters": {"type": "object"}, "strict": true})
}

fn ask(stream: bool) -> Value {
    json!({"model": "gpt-5.6-sol", "input": "hi", "tools": [python()], "stream": stream})
}

fn events(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("text/event-stream; charset=utf-8"));
    let events = read_events(&answer.body()).unwrap();
    for (number, event) in events.iter().enumerate() {
        Schemas::check_event(event).unwrap();
        assert_eq!(event["sequence_number"], number);
    }
    events
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn every_kind_of_item_streams_as_the_schema_says() {
    let model = ScriptedModel::start().await.unwrap();
    model.script("k", turns(json!([{"items": [
        {"reasoning": true}, {"reasoning": "Some thoughts on it.", "encrypted_content": "gAAAAABo"},
        {"code": "print('ä')\n"}, {"arguments": "{\"code\": "}, {"call": {"name": "look", "arguments": "{}"}},
        {"custom_call": {"name": "c", "input": "some input"}}, {"text": "A first text.", "phase": "commentary"},
        {"text": ""}, {"refusal": "I would rather not."},
        {"item": {"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "x"}}},
        {"item": {"type": "message", "role": "assistant", "status": "completed", "content": [
            {"type": "output_text", "text": "see x", "logprobs": [], "annotations": [{"type": "url_citation",
             "url": "https://example.org", "title": "x", "start_index": 4, "end_index": 5}]}]}},
    ]}])));
    let events = events(&post(&model, PATH, "k", &ask(true)).await);
    let last = events.last().unwrap();
    assert_eq!(last["type"], "response.completed");
    let done: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "response.output_item.done")
        .map(|event| &event["item"])
        .collect();
    assert_eq!(last["response"]["output"].as_array().unwrap().iter().collect::<Vec<_>>(), done);
    assert_eq!(last["response"]["tools"], json!([python()]));
    assert!(model.violations().is_empty());
}

#[tokio::test]
async fn a_code_call_streams_its_arguments() {
    let model = ScriptedModel::start().await.unwrap();
    model.script("k", [Turn::code("import math\nmath.prod([2,3,5,7,11,13])\n")]);
    let events = events(&post(&model, PATH, "k", &ask(true)).await);
    assert_eq!(
        kinds(&events)[..4],
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.function_call_arguments.delta",
        ]
    );
    assert_eq!(events[2]["item"]["arguments"], "");
    assert_eq!(events[2]["item"]["status"], "in_progress");
    let deltas: Vec<&str> = events.iter().filter_map(|event| event["delta"].as_str()).collect();
    assert_eq!(deltas[..3], ["{\"code\":\"", "import math\\n", "math.prod([2"]);
    for event in events.iter().filter(|event| event["delta"].is_string()) {
        let length = |name: &str| event[name].as_str().unwrap().chars().count();
        assert_eq!((length("delta") + length("obfuscation")) % 16, 0);
    }
    assert_eq!(
        kinds(&events)[events.len() - 3..],
        ["response.function_call_arguments.done", "response.output_item.done", "response.completed",]
    );
}

#[tokio::test]
async fn the_json_answer_is_the_end_of_the_stream() {
    let model = ScriptedModel::start().await.unwrap();
    let turn = json!({"items": [{"reasoning": true}, {"text": "Hello"}],
        "usage": {"input_tokens": 7, "output_tokens": 5, "reasoning_tokens": 2}});
    model.script("k", turns(json!([turn, turn, turn])));
    let stream = events(&post(&model, PATH, "k", &ask(true)).await);
    let whole = post(&model, PATH, "k", &ask(false)).await.json();
    Schemas::check_response(&whole).unwrap();
    assert_eq!(whole["usage"]["total_tokens"], 12);
    let (mut last, mut whole) = (stream.last().unwrap()["response"].clone(), whole);
    normalise(&mut last);
    normalise(&mut whole);
    assert_eq!(last, whole);
    model.script(
        "k",
        turns(json!([{"items": [{"text": "x"}], "json_only": true, "response": {"model": "other"}}])),
    );
    let answer = post(&model, PATH, "k", &ask(true)).await;
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.json()["model"], "other");
}

#[tokio::test]
async fn incomplete_and_failed_turns_end_as_such() {
    let model = ScriptedModel::start().await.unwrap();
    model.script("k", turns(json!([{"items": [{"text": "half"}], "status": "incomplete"},
        {"status": "failed", "error": {"code": "insufficient_quota", "message": "no money"}}, {"status": "failed"}])));
    let incomplete = events(&post(&model, PATH, "k", &ask(true)).await);
    assert_eq!(incomplete.last().unwrap()["response"]["incomplete_details"]["reason"], "max_output_tokens");
    let failed = events(&post(&model, PATH, "k", &ask(true)).await);
    assert_eq!(kinds(&failed)[2..], ["error", "response.failed"]);
    assert_eq!(failed[2]["error"]["message"], "no money");
    let failed = events(&post(&model, PATH, "k", &ask(true)).await);
    assert_eq!(kinds(&failed)[2..], ["response.failed"]);
}

#[tokio::test]
async fn the_second_turn_takes_what_the_first_gave_and_nothing_else() {
    let model = ScriptedModel::start().await.unwrap();
    model.script("k", [Turn::of([Item::reasoning(), Item::code("1+1")]), Turn::text("2"), Turn::text("3")]);
    let first = post(&model, PATH, "k", &ask(false)).await.json();
    let (reasoning, call) = (first["output"][0].clone(), first["output"][1].clone());
    let result = json!({"type": "function_call_output", "call_id": call["call_id"], "output": "2"});
    let mut second = ask(false);
    second["input"] = json!([{"role": "user", "content": "hi"}, reasoning, call, result]);
    assert_eq!(post(&model, PATH, "k", &second).await.status, 200);
    assert!(model.violations().is_empty());

    second["input"][2]["call_id"] = json!("call_made_up");
    second["input"][3]["call_id"] = json!("call_made_up");
    let refused = post(&model, PATH, "k", &second).await;
    assert_eq!(refused.status, 400);
    assert_eq!(refused.json()["error"]["code"], "schema_violation");
    assert_eq!(refused.json()["error"]["param"], "input[2]");
    assert_eq!(model.violations_of("k").len(), 1);
}

#[tokio::test]
async fn a_bad_request_is_refused_and_recorded() {
    let model = ScriptedModel::start().await.unwrap();
    model.script("k", [Turn::text("never said")]);
    let bad = json!({"model": 7, "input": "hi"});
    let refused = post(&model, PATH, "k", &bad).await;
    assert_eq!(refused.status, 400);
    let message = refused.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("/model"), "{message}");
    Schemas::check("ErrorResponse", &refused.json()).unwrap();
    let violations = model.violations();
    assert_eq!((violations[0].key.as_str(), violations[0].path.as_str()), ("k", PATH));
    assert_eq!(violations[0].message, message);
    assert_eq!(post(&model, PATH, "k", &json!([])).await.status, 400);

    let none_left = post(&model, PATH, "other", &ask(false)).await;
    assert_eq!(none_left.status, 500);
    assert_eq!(model.violations_of("other").len(), 1);
    assert_eq!(model.requests("k")[0].body, bad);
}

#[tokio::test]
async fn a_test_in_another_language_scripts_it_over_http() {
    let model = ScriptedModel::start().await.unwrap();
    let script = json!({"turns": [{"items": [{"text": "hi"}]}]}).to_string();
    assert_eq!(call(&model, "PUT /_script/k", "k", &script).await.status, 204);
    assert_eq!(call(&model, "PUT /_script/k2", "k", "{\"turns\": [{\"itms\": []}]}").await.status, 400);
    assert_eq!(post(&model, PATH, "k", &ask(false)).await.status, 200);
    assert_eq!(post(&model, PATH, "k", &ask(false)).await.status, 500);
    let requests = call(&model, "GET /_requests/k", "k", "").await.json();
    assert_eq!(requests[0]["headers"]["authorization"], "Bearer k");
    assert_eq!(requests[0]["body"], ask(false));
    assert_eq!(requests[0]["hung_up"], false);
    assert_eq!(call(&model, "GET /_violations", "k", "").await.json()[0]["key"], "k");
    assert_eq!(call(&model, "GET /_violations/nobody", "k", "").await.json(), json!([]));
    assert_eq!(call(&model, "GET /v1/models", "k", "").await.json()["object"], "list");
}
