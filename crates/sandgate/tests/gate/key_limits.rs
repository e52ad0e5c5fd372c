//! Each limit of a key, hit through the running server: a status, words, and when to come back.

use std::io::Read;

use sandgate_testkit::Turn;
use serde_json::{Value, json};

use crate::common::{Answer, Client, Keyed, failure_of, wait_until};

#[track_caller]
fn too_much(answer: &Answer, words: &str) {
    let error = answer.refused(429);
    assert_eq!((&error["type"], &error["code"]), (&json!("rate_limit_error"), &json!("rate_limit_exceeded")));
    assert!(error["message"].as_str().unwrap().contains(words), "{error}");
    assert!(answer.head.contains("\nretry-after: "), "{}", answer.head);
}

fn make(client: &Client) -> Answer {
    client.post("/v1/containers", &json!({"name": "a"}))
}

fn id(answer: &Answer) -> String {
    answer.ok()["id"].as_str().unwrap().to_owned()
}

fn run(client: &Client) -> Answer {
    client.post("/v1/execute", &json!({"code": "print(1)"}))
}

#[test]
fn what_a_key_may_hold() {
    let world = Keyed::start("responses");
    for (limit, words) in [("containers", "may have 1 containers"), ("sandboxes", "may have 1 sandboxes")] {
        let client = world.limited(json!({limit: 1}));
        let container = id(&make(&client));
        let heard = world.heard().len();
        too_much(&make(&client), words);
        too_much(&run(&client), words);
        too_much(&client.create(json!({})), words);
        too_much(&client.create_stream(json!({})), words);
        too_much(&client.create(json!({"background": true})), words);
        assert_eq!(world.heard().len(), heard, "no model was paid for it");
        // What is there can be used, and others are not concerned.
        let code = json!({"code": "print(1)", "container": container});
        assert_eq!(client.post("/v1/execute", &code).ok()["stdout"], "1\n");
        id(&make(&world.limited(json!({limit: 1}))));
        client.delete(&format!("/v1/containers/{container}")).ok();
        id(&make(&client));
    }
}

#[test]
fn what_a_key_may_do_at_once() {
    let world = Keyed::start("responses");
    let client = world.limited(json!({"executions": 1}));
    let slow =
        json!({"code": "import time\nfor _ in range(600): time.sleep(0.1)", "stream": true}).to_string();
    let mut running = client.send("POST", "/v1/execute", "application/json", slow.as_bytes());
    let mut first = [0; 9];
    running.read_exact(&mut first).unwrap();
    let words = "may run 1 executions at once";
    let heard = world.heard().len();
    too_much(&run(&client), words);
    too_much(&client.create(json!({})), words);
    too_much(&client.create_stream(json!({})), words);
    assert_eq!(world.heard().len(), heard);
    run(&world.limited(json!({"executions": 1}))).ok();
    // Whoever hangs up gives its place back.
    drop(running);
    wait_until("the place is free", || run(&client).status == 200);
    world.script([Turn::code("print(1)"), Turn::text("1")]);
    client.respond(json!({}));
}

/// A limit that is reached in the middle of a stream is said there.
#[test]
fn a_limit_in_mid_stream() {
    let world = Keyed::start("responses");
    let client = world.limited(json!({"containers": 1}));
    let slow = json!({"items": [{"code": "print(1)"}], "delay_ms": 1500});
    world.script([serde_json::from_value(slow).unwrap()]);
    let streaming = std::thread::spawn({
        let client = client.clone();
        move || client.create_stream(json!({}))
    });
    wait_until("the model is asked", || !world.heard().is_empty());
    id(&make(&client));
    let answer = streaming.join().unwrap();
    let events = answer.events();
    assert!(failure_of(&events).contains("may have 1 containers"));
    assert_eq!(events.last().unwrap()["response"]["error"]["code"], "rate_limit_exceeded");
}

#[test]
fn requests_per_minute_memory_and_models() {
    let world = Keyed::start("responses");
    let client = world.limited(json!({"requests_per_minute": 3}));
    let statuses: Vec<u16> = (0..3).map(|_| client.get("/v1/containers").status).collect();
    assert_eq!(statuses, [200; 3]);
    too_much(&client.get("/v1/containers"), "3 requests per minute");
    too_much(&client.create_stream(json!({})), "3 requests per minute");

    let client = world.limited(json!({"memory_bytes": 1_u64 << 30}));
    let auto = |size: &str| json!([{"type": "code_interpreter", "container": {"type": "auto", "memory_limit": size}}]);
    for answer in [
        client.post("/v1/containers", &json!({"name": "a", "memory_limit": "4g"})),
        client.create(json!({"tools": auto("4g")})),
    ] {
        let error = answer.refused(400);
        assert!(error["message"].as_str().unwrap().contains("This key gives a container"), "{error}");
        assert!(error["param"].as_str().unwrap().ends_with("memory_limit"));
    }
    id(&client.post("/v1/containers", &json!({"name": "a", "memory_limit": "1g"})));

    let client = world.limited(json!({"models": ["gpt-t*"]}));
    let heard = world.heard().len();
    let other = |more: Value| {
        let mut fields = json!({"model": "other"});
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fields
    };
    let messages = json!({"messages": [{"role": "user", "content": "x"}]});
    for answer in [
        client.create(other(json!({}))),
        client.create_stream(other(json!({}))),
        client.post("/v1/responses", &other(json!({"input": "x"}))),
        client.post("/v1/responses/input_tokens", &other(json!({"input": "x"}))),
        client.post("/v1/chat/completions", &other(messages)),
        client.post("/v1/embeddings", &other(json!({"input": "x"}))),
    ] {
        let error = answer.refused(404);
        assert_eq!((&error["code"], &error["param"]), (&json!("model_not_found"), &json!("model")));
        assert_eq!(error["message"], "The model 'other' does not exist or you do not have access to it.");
    }
    client
        .raw("POST", "/v1/responses", br#"{"model": "gpt-test", "model": "other", "input": "x"}"#)
        .refused(400);
    assert_eq!(world.heard().len(), heard);
    world.script([Turn::text("hello")]);
    client.post("/v1/responses", &json!({"model": "gpt-test", "input": "x"})).ok();
    for model in client.get("/v1/models").ok()["data"].as_array().unwrap() {
        assert!(model["id"].as_str().unwrap().starts_with("gpt-t"), "{model}");
    }
    // A changed limit counts from the next request on.
    let (made, client) = world.make(json!({"limits": {"containers": 0}}));
    make(&client).refused(429);
    let path = format!("/v1/admin/keys/{}", made["id"].as_str().unwrap());
    world.master().raw("PATCH", &path, br#"{"limits": {"containers": 1}}"#).ok();
    id(&make(&client));
}

/// What a key may reach is less than what the operator allows, and whoever asks for more is told that it is the key.
#[test]
fn a_key_bounds_what_its_containers_reach() {
    let world = Keyed::with("responses", "network: {ceiling: ['*.example.org']}");
    let client = world.limited(json!({"network": ["a.example.org"]}));
    let policy = |host: &str| json!({"type": "allowlist", "allowed_domains": [host]});
    let auto = |host: &str| json!([{"type": "code_interpreter", "container": {"type": "auto", "network_policy": policy(host)}}]);
    let heard = world.heard().len();
    for (answer, param) in [
        (
            client.post("/v1/containers", &json!({"name": "b", "network_policy": policy("b.example.org")})),
            json!("network_policy"),
        ),
        (client.create(json!({"tools": auto("b.example.org")})), json!("tools[0].container.network_policy")),
        (client.post("/v1/execute", &json!({"code": "1", "network": ["b.example.org"]})), Value::Null),
    ] {
        let error = answer.refused(400);
        assert_eq!(error["param"], param, "{error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("this key may not have it: 'b.example.org'"), "{error}");
        assert!(!message.contains("this server"), "which allows it: {error}");
    }
    assert_eq!(world.heard().len(), heard, "no model was paid for it");
    let made =
        client.post("/v1/containers", &json!({"name": "a", "network_policy": policy("a.example.org")})).ok();
    assert_eq!(made["network_policy"], policy("a.example.org"));
    client.post("/v1/execute", &json!({"code": "1", "network": ["a.example.org"]})).ok();
    // Another key has what the operator allows.
    let other = world.limited(json!({}));
    other.post("/v1/execute", &json!({"code": "1", "network": ["b.example.org"]})).ok();
}
