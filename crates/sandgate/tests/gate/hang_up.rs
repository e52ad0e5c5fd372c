//! Clients that hang up, and clients that read slowly: the first stop everything that was done for them,
//! the second stop nobody.

use std::io::Read;
use std::thread;
use std::time::{Duration, Instant};

use sandgate_testkit::Turn;
use serde_json::{Value, json};

use crate::common::{Client, code_tool, container_of, turn, wait_until, world};

/// Much longer than it should take, much shorter than the code or the model would.
const SOON: Duration = Duration::from_secs(15);

const SLEEP: &str = "import time\ntime.sleep(60)";

fn request(stream: bool, more: &Value) -> Vec<u8> {
    let mut request = json!({"model": "m", "input": "go", "tools": code_tool(), "stream": stream});
    request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    request.to_string().into_bytes()
}

fn containers(client: &Client) -> usize {
    client.get("/v1/containers").ok()["data"].as_array().unwrap().len()
}

/// Hangs up once `ready`, and sees that everything ends soon: no further turn, no container.
#[track_caller]
fn hang_up(client: &Client, stream: bool, ready: impl Fn() -> bool) {
    let connection = client.send("POST", "/v1/responses", "application/json", &request(stream, &json!({})));
    wait_until("the run is where it should be", ready);
    drop(connection);
    let begin = Instant::now();
    wait_until("the container is gone", || containers(client) == 0);
    assert!(begin.elapsed() < SOON, "{:?}", begin.elapsed());
}

fn asked(client: &Client) -> usize {
    world().model.requests(&client.key).len()
}

#[test]
fn while_code_runs() {
    for stream in [false, true] {
        let client = world().client([Turn::code(SLEEP), Turn::text("never said")]);
        hang_up(&client, stream, || {
            let there = containers(&client) == 1;
            thread::sleep(Duration::from_millis(if there { 700 } else { 0 }));
            there
        });
        // The code's own time is far from over, so a further turn could only come of the hang-up.
        thread::sleep(Duration::from_millis(500));
        assert_eq!(world().asked(&client).len(), 1, "no further turn is paid for");
        assert_eq!(world().model.turns_left(&client.key), 1);
    }
}

#[test]
fn while_the_model_writes_code() {
    let slow = turn(json!({"items": [{"code": SLEEP.repeat(50)}], "chunk": 4, "delta_delay_ms": 200}));
    let client = world().client([slow, Turn::text("never said")]);
    let mut stream = client.open_stream(json!({}));
    stream.until("response.code_interpreter_call_code.delta");
    assert_eq!(containers(&client), 1);
    drop(stream);
    let begin = Instant::now();
    wait_until("the model is left alone", || world().asked(&client)[0].hung_up);
    wait_until("the container is gone", || containers(&client) == 0);
    assert!(begin.elapsed() < SOON, "{:?}", begin.elapsed());
    assert_eq!(asked(&client), 1);
}

#[test]
fn while_the_model_thinks() {
    for stream in [false, true] {
        for rounds in [0, 1] {
            let slow = turn(json!({"items": [{"text": "late"}], "delay_ms": 60_000}));
            let client = world().client(vec![Turn::code("1"); rounds].into_iter().chain([slow]));
            let begin = Instant::now();
            hang_up(&client, stream, || asked(&client) == rounds + 1);
            wait_until("the model is left alone", || world().asked(&client)[rounds].hung_up);
            assert!(begin.elapsed() < SOON, "{:?}", begin.elapsed());
        }
    }
}

#[test]
fn a_container_that_was_there_before_stays_and_can_be_used() {
    let turns =
        [Turn::code("x = 41"), Turn::text("ok"), Turn::code(SLEEP), Turn::code("x + 1"), Turn::text("42")];
    let client = world().client(turns);
    let first = client.respond(json!({}));
    let more = json!({"previous_response_id": first["id"], "stream": true});
    let connection = client.send("POST", "/v1/responses", "application/json", &request(true, &more));
    wait_until("the model is asked", || asked(&client) == 3);
    thread::sleep(Duration::from_millis(700));
    drop(connection);
    let begin = Instant::now();
    let more = json!({"previous_response_id": first["id"], "include": ["code_interpreter_call.outputs"]});
    let second = client.respond(more);
    assert!(begin.elapsed() < SOON, "{:?}", begin.elapsed());
    assert_eq!(container_of(&first), container_of(&second));
    assert_eq!(second["output"][0]["outputs"][0]["logs"], "42");
}

/// A response that nobody heard the end of was never finished, so nothing is kept of it.
#[test]
fn nothing_is_kept_of_what_was_broken_off() {
    let client = world().client([Turn::code(SLEEP), Turn::text("never said")]);
    let conversation = client.post("/v1/conversations", &json!({})).ok()["id"].as_str().unwrap().to_owned();
    let mut stream = client.open_stream(json!({"conversation": conversation}));
    let id = stream.until("response.created")["response"]["id"].as_str().unwrap().to_owned();
    stream.until("response.code_interpreter_call.interpreting");
    drop(stream);
    wait_until("the container is gone", || containers(&client) == 0);
    client.get(&format!("/v1/responses/{id}")).refused(404);
    let items = client.get(&format!("/v1/conversations/{conversation}/items")).ok();
    assert_eq!(items["data"], json!([]));
}

#[test]
fn a_slow_reader_stops_nobody_and_loses_nothing() {
    let text = "0123456789abcdef".repeat(20_000);
    let much = || [Turn::code("print('x' * 5_000_000)"), Turn::text(text.clone())];
    let slow = world().client(much());
    let fields = request(true, &json!({"include": ["code_interpreter_call.outputs"]}));
    let mut unread: Vec<_> = (0..4)
        .map(|_| world().client(much()).send("POST", "/v1/responses", "application/json", &fields))
        .collect();
    unread.push(slow.send("POST", "/v1/responses", "application/json", &fields));
    wait_until("all are at work", || asked(&slow) == 2);
    let begin = Instant::now();
    for _ in 0..3 {
        let quick = world().client([Turn::code("print(1)"), Turn::text("one")]);
        quick.stream(json!({}));
    }
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
    for mut connection in unread {
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        let last = answer.trim_end().rsplit_once("data: ").unwrap().1;
        let response: Value = serde_json::from_str(last).unwrap();
        assert_eq!(response["type"], "response.completed");
        assert_eq!(response["response"]["output"][1]["content"][0]["text"], text);
    }
}
