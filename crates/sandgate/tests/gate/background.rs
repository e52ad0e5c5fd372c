//! `background: true`: the answer is asked for later, listened to again and again, or cancelled.

use std::thread;
use std::time::{Duration, Instant};

use sandgate_testkit::Turn;
use serde_json::{Value, json};

use crate::common::{Client, OUTPUTS, items, kinds, turn, wait_until, world};

const SLOW: &str = "import time\nprint('begun', flush=True)\ntime.sleep(3)\nprint('done')";
const SLEEP: &str = "import time\ntime.sleep(60)";

fn path(response: &Value) -> String {
    format!("/v1/responses/{}", response["id"].as_str().unwrap())
}

/// Asks until it is over.
#[track_caller]
fn poll(client: &Client, path: &str) -> Value {
    let mut response = Value::Null;
    wait_until("it is over", || {
        response = client.get(path).ok();
        !matches!(response["status"].as_str().unwrap(), "queued" | "in_progress")
    });
    response
}

#[test]
fn started_and_asked_for_later() {
    let client = world().client([Turn::code(SLOW), Turn::text("slow")]);
    let begin = Instant::now();
    let started = client.respond(json!({"background": true, "include": [OUTPUTS]}));
    assert!(begin.elapsed() < Duration::from_millis(2900), "it waited: {:?}", begin.elapsed());
    assert!(matches!(started["status"].as_str().unwrap(), "queued" | "in_progress"), "{started}");
    assert_eq!((&started["background"], &started["output"]), (&json!(true), &json!([])));
    let path = path(&started);
    wait_until("it is in progress", || client.get(&path).ok()["status"] == "in_progress");
    let ended = poll(&client, &path);
    assert_eq!((&ended["status"], &ended["id"]), (&json!("completed"), &started["id"]));
    assert_eq!(ended["created_at"], started["created_at"]);
    assert_eq!(ended["output"][0]["outputs"], Value::Null);
    assert!(ended["usage"]["total_tokens"].is_u64() && ended["completed_at"].is_u64());
    // Kept whole, for whoever asks to see it.
    let whole = client.get(&format!("{path}?include[]={OUTPUTS}")).ok();
    assert_eq!(whole["output"][0]["outputs"], json!([{"type": "logs", "logs": "begun\ndone\n"}]));
    assert_eq!(client.get(&format!("{path}/input_items")).ok()["data"][0]["content"][0]["text"], "go");
    // The upstream is asked for a plain answer.
    for body in world().bodies(&client) {
        assert_ne!(body["background"], true);
    }
    // And the conversation goes on from it.
    world().model.script(&client.key, [Turn::text("on")]);
    client.respond(json!({"previous_response_id": started["id"]}));
}

#[test]
fn streamed_and_listened_to_again() {
    let client = world().client([Turn::code(SLOW), Turn::text("a slow answer, in some pieces")]);
    let mut stream = client.open_stream(json!({"background": true, "include": [OUTPUTS]}));
    let created = stream.until("response.created")["response"].clone();
    let running = stream.until("response.code_interpreter_call.interpreting");
    // Nobody listens any more, and it goes on.
    drop(stream);
    let seen = running["sequence_number"].as_u64().unwrap();
    let path = path(&created);
    let rest = client.get(&format!("{path}?stream=true&starting_after={seen}"));
    let from_memory = client.get(&format!("{path}?stream=true")).events();
    poll(&client, &path);
    let all = client.get(&format!("{path}?stream=true")).events();
    assert_eq!(from_memory, all);
    assert_eq!(kinds(&all)[0], "response.created");
    assert_eq!(kinds(&all).last(), Some(&"response.completed"));
    let after = usize::try_from(seen).unwrap() + 1;
    assert_eq!(rest.events_from(seen + 1), all[after..]);
    // The same from the store.
    assert_eq!(
        client.get(&format!("{path}?stream=true&starting_after={seen}")).events_from(seen + 1),
        all[after..]
    );
    let done = items(&all.last().unwrap()["response"], "code_interpreter_call");
    assert_eq!(done[0]["outputs"][0]["logs"], "begun\ndone\n");
    let last = all.len() - 1;
    assert!(
        client
            .get(&format!("{path}?stream=true&starting_after={last}"))
            .events_from(last as u64 + 1)
            .is_empty()
    );
    assert!(client.get(&format!("{path}?stream=true&starting_after=9999")).events_from(0).is_empty());
    // The listener's own wish about padding.
    let plain = client.get(&format!("{path}?stream=true&include_obfuscation=false")).events();
    assert!(plain.iter().all(|event| event.get("obfuscation").is_none()));
    assert_eq!(plain.len(), all.len());
    for bad in ["x", "-1", "1.5"] {
        let error = client.get(&format!("{path}?stream=true&starting_after={bad}")).refused(400);
        assert_eq!(error["param"], "starting_after");
    }
    assert_eq!(world().asked(&client).len(), 2);
}

#[test]
fn cancelled_while_code_runs() {
    let client = world().client([Turn::code(SLEEP), Turn::text("never said")]);
    let mut stream = client.open_stream(json!({"background": true}));
    let path = path(&stream.until("response.created")["response"]);
    stream.until("response.code_interpreter_call.interpreting");
    let begin = Instant::now();
    let cancelled = client.post(&format!("{path}/cancel"), &json!({})).ok();
    assert!(begin.elapsed() < Duration::from_secs(15), "{:?}", begin.elapsed());
    assert_eq!(cancelled["status"], "cancelled");
    assert_eq!(client.get(&path).ok()["status"], "cancelled");
    // The listener is let go.
    while stream.next().is_some() {}
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    // Again changes nothing.
    assert_eq!(client.post(&format!("{path}/cancel"), &json!({})).ok()["status"], "cancelled");
    thread::sleep(Duration::from_millis(300));
    assert_eq!(world().asked(&client).len(), 1, "no further turn is paid for");
}

#[test]
fn cancelled_while_the_model_thinks() {
    let slow = turn(json!({"items": [{"text": "late"}], "delay_ms": 60_000}));
    let client = world().client([slow]);
    let started = client.respond(json!({"background": true}));
    wait_until("the model is asked", || world().model.requests(&client.key).len() == 1);
    let cancelled = client.post(&format!("{}/cancel", path(&started)), &json!({})).ok();
    assert_eq!(cancelled["status"], "cancelled");
    wait_until("the model is left alone", || world().asked(&client)[0].hung_up);
}

#[test]
fn a_finished_one_stays_as_it_ended() {
    let client = world().client([Turn::text("quick")]);
    let started = client.respond(json!({"background": true}));
    let ended = poll(&client, &path(&started));
    let cancelled = client.post(&format!("{}/cancel", path(&started)), &json!({})).ok();
    assert_eq!(cancelled, ended);
}

#[test]
fn a_response_that_somebody_waited_for_is_no_background_response() {
    let client = world().client([Turn::text("quick")]);
    let response = client.respond(json!({}));
    let error = client.post(&format!("{}/cancel", path(&response)), &json!({})).refused(400);
    assert!(error["message"].as_str().unwrap().contains("Cannot cancel"), "{error}");
    let error = client.get(&format!("{}?stream=true", path(&response))).refused(400);
    assert!(error["message"].as_str().unwrap().contains("background"), "{error}");
}

#[test]
fn what_fails_says_so_in_the_response() {
    let refusing = || {
        Turn::http(400, json!({"error": {"message": "no, thanks", "type": "t", "param": null, "code": null}}))
    };
    let broken = || turn(json!({"items": [{"code": "print(1)"}], "cut_after": 4}));
    for (turns, words) in [
        (vec![refusing()], "no, thanks"),
        (vec![Turn::code("1"), refusing()], "no, thanks"),
        (vec![broken()], "the upstream's answer"),
    ] {
        let client = world().client(turns);
        let started = client.respond(json!({"background": true}));
        let ended = poll(&client, &path(&started));
        assert_eq!(ended["status"], "failed");
        assert!(ended["error"]["message"].as_str().unwrap().contains(words), "{ended}");
        let events = client.get(&format!("{}?stream=true", path(&started))).events();
        assert_eq!(kinds(&events)[events.len() - 2..], ["error", "response.failed"]);
        assert!(!json!(events).to_string().contains("\"python\""));
    }
}

#[test]
fn deleted_while_it_runs_it_is_gone_for_good() {
    let client = world().client([Turn::code("import time; time.sleep(4)"), Turn::text("late")]);
    let mut stream = client.open_stream(json!({"background": true}));
    let path = path(&stream.until("response.created")["response"]);
    stream.until("response.code_interpreter_call.interpreting");
    assert_eq!(client.delete(&path).ok()["deleted"], true);
    client.get(&path).refused(404);
    while stream.next().is_some() {}
    thread::sleep(Duration::from_millis(500));
    client.get(&path).refused(404);
}

#[test]
fn requests_that_are_wrong_are_refused_at_once() {
    let client = world().client([]);
    let missing = json!([{"type": "code_interpreter", "container": "cntr_none"}]);
    client.create(json!({"background": true, "tools": missing})).refused(404);
    client.create(json!({"background": true, "conversation": "conv_none"})).refused(404);
    assert!(world().asked(&client).is_empty());
}
