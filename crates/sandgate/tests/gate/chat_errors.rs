//! Code on Chat Completions when something goes wrong: a status before the first byte, an error line after
//! it, and never a completion that is none.

use std::thread;
use std::time::{Duration, Instant};

use sandgate_testkit::{Item, Turn};
use serde_json::{Value, json};

use crate::common::{Client, World, accumulated, turn, wait_until, world};

const SLEEP: &str = "import time\ntime.sleep(60)";

fn containers(client: &Client) -> usize {
    client.get("/v1/containers").ok()["data"].as_array().unwrap().len()
}

#[test]
fn bad_requests_are_refused_before_anybody_is_asked() {
    let client = world().client([]);
    for (fields, param) in [
        (json!({"n": 2}), "n"),
        (json!({"messages": "hi"}), "messages"),
        (json!({"tools": [{"type": "code_interpreter", "container": 7}]}), "tools[0].container"),
        (json!({"tools": [{"type": "code_interpreter", "containers": "x"}]}), "tools[0].containers"),
        (json!({"tools": [{"type": "code_interpreter"}, {"type": "code_interpreter"}]}), "tools[1]"),
        (
            json!({"tools": [{"type": "code_interpreter", "container": {"type": "auto", "file_ids": ["file-x"]}}]}),
            "tools[0].container.file_ids[0]",
        ),
    ] {
        for answer in [client.chat(fields.clone()), client.chat_stream(fields)] {
            assert_eq!(answer.refused(400)["param"], param);
        }
    }
    client.chat(json!({"tools": [{"type": "code_interpreter", "container": "cntr_none"}]})).refused(404);
    client.typed("POST", "/v1/chat/completions", "text/plain", b"{}").refused(415);
    client.raw("POST", "/v1/chat/completions", br#"{"code_interpreter""#).refused(400);
    assert_eq!(world().asked(&client).len(), 0);
}

#[test]
fn the_upstreams_refusal_keeps_its_status() {
    let error = json!({"error": {"message": "slow down", "type": "requests", "param": null, "code": "rate_limit_exceeded"}});
    for stream in [false, true] {
        let client = world().client([Turn::http(429, error.clone())]);
        let answer = client.chat(json!({"stream": stream}));
        assert_eq!(answer.refused(429), error["error"]);
        assert_eq!(containers(&client), 0);
    }
}

#[test]
fn a_failure_in_a_later_turn_is_no_completion() {
    let error = json!({"error": {"message": "too large", "type": "invalid_request_error", "param": null, "code": "big"}});
    let failed = || {
        turn(
            json!({"items": [{"text": "par"}], "status": "failed", "error": {"code": "server_error", "message": "lost"}}),
        )
    };
    for (bad, status, words) in [(Turn::http(413, error), 413, "too large"), (failed(), 500, "lost")] {
        // A later turn that failed is tried again, twice.
        let turns = [Turn::code("print(1)"), bad.clone(), bad.clone(), bad.clone()];
        let client = world().client(turns);
        let answer = client.chat(json!({}));
        answer.leaks_nothing();
        assert!(answer.refused(status)["message"].as_str().unwrap().contains(words), "{}", answer.text());
        // Nobody has heard of its container.
        wait_until("the container is gone", || containers(&client) == 0);

        let client = world().client([Turn::code("print(1)"), bad]);
        let answer = client.chat_stream(json!({}));
        answer.leaks_nothing();
        assert!(answer.chat_failure()["message"].as_str().unwrap().contains(words));
        assert!(answer.text().contains("\"logs\":\"1\\n\""), "what ran was shown");
        // This one was named to the client, and is there.
        assert_eq!(containers(&client), 1);
    }
}

#[test]
fn an_answer_that_breaks_off_is_an_error() {
    let cut = turn(json!({"items": [{"text": "a long enough text to be cut"}], "cut_after": 2}));
    let client = world().client([cut.clone(), cut]);
    client.chat_stream(json!({})).chat_failure();
    // A first turn is not asked again; whole answers are not cut by events.
    let client = world().client([turn(json!({"raw": "data: {\"choices\":[]}\n\n"}))]);
    client.chat(json!({})).refused(502);
}

#[test]
fn a_model_that_calls_code_again_and_again_must_answer_at_last() {
    let world = World::with("chat", "gate: {rounds: 2}");
    let calls = |count| (0..count).map(|number| Turn::code(format!("print({number})")));
    let client = world.client(calls(2).chain([Turn::text("enough")]));
    let whole = client.complete(json!({"tool_choice": "required"}));
    assert_eq!(whole["choices"][0]["message"]["content"], "enough");
    let bodies = world.bodies(&client);
    // Servers refuse calls in a conversation that has no tools, so it stays, and may not be called.
    assert_eq!((&bodies[2]["tools"], &bodies[2]["tool_choice"]), (&bodies[1]["tools"], &json!("none")));
    let told = &bodies[2]["messages"].as_array().unwrap().last().unwrap()["content"];
    assert!(told.as_str().unwrap().contains("the last of 2 rounds"), "{told}");

    let client = world.client(calls(9));
    let answer = client.chat(json!({}));
    answer.leaks_nothing();
    assert!(answer.refused(500)["message"].as_str().unwrap().contains("2 rounds"));
    assert!(answer.head.contains("x-should-retry: false"), "{}", answer.head);
    let client = world.client(calls(9));
    let answer = client.chat_stream(json!({}));
    answer.leaks_nothing();
    assert!(answer.chat_failure()["message"].as_str().unwrap().contains("2 rounds"));
    assert_eq!(world.asked(&client).len(), 3);
}

#[test]
fn the_clients_limit_of_tokens_counts_over_all_turns() {
    let client = world()
        .client([Turn::code("1"), turn(json!({"items": [{"text": "cut o"}], "status": "incomplete"}))]);
    let whole = client.complete(json!({"max_completion_tokens": 50}));
    assert_eq!(whole["choices"][0]["finish_reason"], "length");
    let limits: Vec<Value> =
        world().bodies(&client).iter().map(|body| body["max_completion_tokens"].clone()).collect();
    assert_eq!(limits, [50, 30]);
    // Nothing left for another turn, and a call that was cut off.
    let client = world().client([Turn::code("1")]);
    let whole = client.complete(json!({"max_tokens": 20}));
    assert_eq!(whole["choices"][0]["finish_reason"], "length");
    assert_eq!(whole["choices"][0]["message"]["code_interpreter"]["calls"][0]["outputs"][0]["logs"], "1");
    let client = world()
        .client([turn(json!({"items": [{"arguments": "{\"code\": \"print("}], "status": "incomplete"}))]);
    let whole = client.complete(json!({}));
    let call = &whole["choices"][0]["message"]["code_interpreter"]["calls"][0];
    assert_eq!((&call["status"], &call["code"]), (&json!("incomplete"), &json!("print(")));
    assert_eq!(containers(&client), 0);
}

#[test]
fn big_output_is_shown_whole_and_told_short() {
    let turns = || [Turn::code("print('x' * 1_000_000)"), Turn::text("much")];
    let client = world().client(turns().into_iter().chain(turns()));
    let whole = client.complete(json!({}));
    let streamed = accumulated(&client.chunks(json!({})));
    for message in [&whole["choices"][0]["message"], &streamed] {
        let logs = message["code_interpreter"]["calls"][0]["outputs"][0]["logs"].as_str().unwrap();
        assert_eq!(logs.len(), 1_000_001);
    }
    for body in [1, 3] {
        let told = world().bodies(&client)[body]["messages"][2]["content"].as_str().unwrap().to_owned();
        assert!(told.len() < 40_000 && told.contains("left out here"));
    }
}

#[test]
fn who_hangs_up_stops_everything() {
    for stream in [false, true] {
        let client = world().client([Turn::code(SLEEP), Turn::text("never said")]);
        let body = crate::common::chat_request(json!({"stream": stream})).to_string();
        let connection = client.send("POST", "/v1/chat/completions", "application/json", body.as_bytes());
        wait_until("the code runs", || containers(&client) == 1);
        thread::sleep(Duration::from_millis(500));
        drop(connection);
        let begin = Instant::now();
        wait_until("the container is gone", || containers(&client) == 0);
        assert!(begin.elapsed() < Duration::from_secs(15), "{:?}", begin.elapsed());
        assert_eq!(world().asked(&client).len(), 1, "no further turn is paid for");
    }
    let slow = turn(json!({"items": [{"text": "late"}], "delay_ms": 60_000}));
    let client = world().client([Turn::code("1"), slow]);
    let mut stream = client.open_chat(json!({}));
    stream.until("code_interpreter");
    wait_until("the second turn is asked for", || world().asked(&client).len() == 2);
    drop(stream);
    wait_until("the model is left alone", || world().asked(&client)[1].hung_up);
    wait_until("the container is gone", || containers(&client) == 0);
}

#[test]
fn names_that_the_client_has_are_the_clients() {
    let own = json!({"type": "function", "function": {"name": "python", "parameters": {"type": "object", "properties": {}}}});
    let client = world().client([
        Turn::of([Item::call("python_2", r#"{"code": "1+1"}"#)]),
        Turn::of([Item::call("python", "{}")]),
    ]);
    let whole = client.complete(json!({"tools": [{"type": "code_interpreter"}, own]}));
    let message = &whole["choices"][0]["message"];
    assert_eq!(message["tool_calls"][0]["function"]["name"], "python");
    assert_eq!(message["code_interpreter"]["calls"][0]["outputs"][0]["logs"], "2");
}
