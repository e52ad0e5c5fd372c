//! Code and calls that go wrong: the model is told, in words it can use, and the response goes on.

use std::thread;
use std::time::{Duration, Instant};

use sandgate_testkit::Turn;
use serde_json::{Value, json};

use crate::common::{
    Client, OUTPUTS, World, failure_of, items, kinds, no_internal_call, told, turn, wait_until, world,
};

/// What the model was told after each of its calls.
fn all_told(world: &World, client: &Client) -> Vec<String> {
    world.bodies(client)[1..].iter().map(|body| told(body).to_owned()).collect()
}

#[test]
fn arguments_that_are_broken_can_be_mended() {
    let broken = [
        "{\"code\": \"print(1",
        "print(1)",
        "{}",
        "[]",
        "",
        "{\"code\": 5}",
        "{\"code\": \"\\ud800\"}",
        "null",
    ];
    for arguments in broken {
        let turns = || {
            [turn(json!({"items": [{"arguments": arguments}]})), Turn::code("print(1)"), Turn::text("one")]
        };
        let client = world().client(turns());
        let response = client.respond(json!({"include": [OUTPUTS]}));
        let calls = items(&response, "code_interpreter_call");
        assert_eq!(
            (&calls[0]["status"], &calls[0]["outputs"]),
            (&json!("failed"), &json!([])),
            "{arguments}"
        );
        assert_eq!(calls[1]["outputs"][0]["logs"], "1\n");
        assert_eq!(response["status"], "completed");
        let told = all_told(world(), &client);
        assert!(told[0].contains("was not run") && told[0].contains("code"), "{}", told[0]);

        let events = world().client(turns()).stream(json!({}));
        let done =
            events.iter().find(|event| event["type"] == "response.code_interpreter_call_code.done").unwrap();
        let deltas = events.iter().filter(|event| event["item_id"] == done["item_id"]);
        let shown: String = deltas.filter_map(|event| event["delta"].as_str()).collect();
        assert_eq!(done["code"], shown, "{arguments}");
        assert_eq!(kinds(&events).last(), Some(&"response.completed"));
    }
}

#[test]
fn code_that_is_no_python() {
    let codes = ["def (", "print('a\0b')", "\u{feff}print(1)", "import time\u{2028}print(2)", ""];
    for code in codes {
        let client = world().client([Turn::code(code), Turn::code("print('alive')"), Turn::text("ok")]);
        let response = client.respond(json!({"include": [OUTPUTS]}));
        let calls = items(&response, "code_interpreter_call");
        assert_eq!((&calls[0]["status"], &calls[0]["code"]), (&json!("completed"), &json!(code)));
        assert_eq!(calls[1]["outputs"][0]["logs"], "alive\n", "{code:?}");
    }
}

#[test]
fn code_past_its_size_is_refused_and_the_model_told() {
    let world = World::with("responses", "limits: {code_bytes: 1000}");
    let client = world.client([Turn::code("#".repeat(2000)), Turn::code("print(1)"), Turn::text("ok")]);
    let response = client.respond(json!({"include": [OUTPUTS]}));
    let calls = items(&response, "code_interpreter_call");
    assert_eq!((&calls[0]["status"], &calls[0]["outputs"]), (&json!("failed"), &json!([])));
    assert_eq!(calls[1]["outputs"][0]["logs"], "1\n");
    let told = all_told(&world, &client);
    assert!(told[0].contains("was not run") && told[0].contains("the limit is 1000"), "{told:?}");
}

#[test]
fn an_interpreter_that_dies_is_replaced() {
    let deaths = [
        "import os; os.kill(os.getpid(), 9)",
        "import os; os._exit(3)",
        "import ctypes; ctypes.string_at(0)",
    ];
    for death in deaths {
        let turns = [
            Turn::code("x = 41\nopen('/mnt/data/kept', 'w').write('42')"),
            Turn::code(format!("print('before', flush=True)\n{death}")),
            Turn::code("print(open('/mnt/data/kept').read())\nx"),
            Turn::text("sorry"),
        ];
        let client = world().client(turns);
        let response = client.respond(json!({"include": [OUTPUTS]}));
        assert_eq!(response["status"], "completed");
        let calls = items(&response, "code_interpreter_call");
        assert!(calls.iter().all(|call| call["container_id"] == calls[0]["container_id"]));
        assert_eq!(calls[2]["outputs"], json!([{"type": "logs", "logs": "42\n"}]), "{death}");
        let told = all_told(world(), &client);
        assert!(told[1].starts_with("before\n[") && told[1].contains("interpreter"), "{}", told[1]);
        assert!(told[2].contains("NameError") && told[2].contains("new"), "a fresh one is told: {}", told[2]);
    }
}

#[test]
fn code_past_its_memory_is_ended() {
    let world = World::with("responses", "limits: {memory_bytes: 200000000}");
    let bomb = "hog = []\nwhile True: hog.append(bytearray(10_000_000))";
    let client = world.client([Turn::code(bomb), Turn::code("print('alive')"), Turn::text("ok")]);
    let response = client.respond(json!({"include": [OUTPUTS]}));
    let calls = items(&response, "code_interpreter_call");
    assert_eq!(calls[1]["outputs"][0]["logs"], "alive\n");
    let told = all_told(&world, &client);
    assert!(told[0].to_lowercase().contains("memory") && told[0].contains("190.7 MiB"), "{}", told[0]);
    assert!(told[1].contains("new"), "a fresh interpreter is told: {}", told[1]);
}

#[test]
fn code_that_never_ends_is_interrupted() {
    let world = World::with("responses", "gate: {execution_seconds: 2}");
    let endless = [
        "x = 1\nprint('begun', flush=True)\nwhile True: pass",
        "import time\ntry:\n    time.sleep(100)\nexcept KeyboardInterrupt:\n    while True: pass",
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
    ];
    let turns =
        endless.iter().map(|code| Turn::code(*code)).chain([Turn::code("print('alive')"), Turn::text("ok")]);
    let client = world.client(turns);
    let response = client.respond(json!({"include": [OUTPUTS]}));
    let calls = items(&response, "code_interpreter_call");
    assert_eq!(calls[0]["outputs"], json!([{"type": "logs", "logs": "begun\n"}]));
    assert_eq!(calls[3]["outputs"][0]["logs"], "alive\n");
    let told = all_told(&world, &client);
    for told in &told[..3] {
        assert!(told.contains("2 s"), "{told}");
    }
    assert!(told[0].starts_with("begun\n"), "{}", told[0]);
}

#[test]
fn much_output_is_shortened_for_the_model() {
    let code = "lines = ['x' * 99] * 100_000\nprint('\\n'.join(['HEAD', *lines, 'TAIL']))";
    let client = world().client([Turn::code(code), Turn::text("ok")]);
    let response = client.respond(json!({}));
    assert_eq!(response["output"][0]["outputs"], Value::Null);
    let told = &all_told(world(), &client)[0];
    assert!(told.len() < 34_000, "{}", told.len());
    assert!(told.starts_with("HEAD\n") && told.ends_with("TAIL"), "{}", &told[told.len() - 300..]);
    assert!(told.contains("9.5 MiB of output left out here"), "{told}");
    // The client gets what it asked for.
    let client = world().client([Turn::code(code), Turn::text("ok")]);
    let events = client.stream(json!({"include": [OUTPUTS]}));
    let shown = events.last().unwrap()["response"]["output"][0]["outputs"][0]["logs"].as_str().unwrap().len();
    assert_eq!(shown, 10_000_010);
}

#[test]
fn output_past_every_limit_ends_the_code() {
    let code = "while True: print('x' * 9999)";
    let client = world().client([Turn::code(code), Turn::code("print('alive')"), Turn::text("ok")]);
    let response = client.respond(json!({"include": [OUTPUTS]}));
    let calls = items(&response, "code_interpreter_call");
    assert_eq!(calls[1]["outputs"].as_array().unwrap().last().unwrap()["logs"], "alive\n");
    let told = &all_told(world(), &client)[0];
    assert!(told.len() < 36_000 && told.contains("10 MiB"), "{}", &told[told.len() - 600..]);
}

#[test]
fn a_container_deleted_between_two_responses_is_made_anew() {
    let turns = [Turn::code("x = 41"), Turn::text("ok"), Turn::code("x"), Turn::text("gone")];
    let client = world().client(turns);
    let first = client.respond(json!({}));
    let id = first["output"][0]["container_id"].as_str().unwrap();
    client.delete(&format!("/v1/containers/{id}")).ok();
    let second = client.respond(json!({"previous_response_id": first["id"]}));
    assert_ne!(second["output"][0]["container_id"], id);
    let told = all_told(world(), &client).pop().unwrap();
    assert!(told.contains("NameError"), "{told}");
    assert!(
        told.contains("the container of the earlier calls is gone"),
        "the model learns that it starts anew: {told}"
    );
}

/// The code is ended and the model told. A further call finds no container, and that is said.
#[test]
fn a_container_deleted_in_mid_run() {
    for (stream, calls_again) in [(false, false), (true, false), (false, true), (true, true)] {
        let last = if calls_again { Turn::code("print(1)") } else { Turn::text("never mind") };
        let turns = [Turn::code("x = 1"), Turn::text("ok"), Turn::code("import time; time.sleep(60)"), last];
        let client = world().client(turns);
        let first = client.respond(json!({}));
        let id = first["output"][0]["container_id"].as_str().unwrap().to_owned();
        let more = json!({"previous_response_id": first["id"], "stream": stream});
        let running = thread::spawn({
            let client = client.clone();
            move || client.create(more)
        });
        wait_until("the model is asked", || world().model.requests(&client.key).len() == 3);
        thread::sleep(Duration::from_millis(700));
        let begin = Instant::now();
        client.delete(&format!("/v1/containers/{id}")).ok();
        let answer = running.join().unwrap();
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
        no_internal_call(&answer);
        client.get(&format!("/v1/containers/{id}")).refused(404);
        assert_eq!(world().asked(&client).len(), 4);
        match (stream, calls_again) {
            (false, false) => assert_eq!(answer.ok()["status"], "completed"),
            (true, false) => assert_eq!(kinds(&answer.events()).last(), Some(&"response.completed")),
            (false, true) => {
                assert!(answer.refused(404)["message"].as_str().unwrap().contains(&id), "{}", answer.text());
            }
            (true, true) => {
                let said = failure_of(&answer.events());
                assert!(said.contains(&id), "{said}");
            }
        }
        let told = all_told(world(), &client).pop().unwrap();
        assert!(told.starts_with('[') && told.contains("ended"), "{told}");
    }
}
