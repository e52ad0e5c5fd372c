//! Sessions as LiteLLM has them: requests that name the same one go on in the same container.

use std::thread;

use sandgate_testkit::Turn;
use serde_json::{Value, json};

use crate::common::{OUTPUTS, World, container_of, logs, world};

fn in_session(name: &str) -> Value {
    json!({"metadata": {"session_id": name}, "include": [OUTPUTS]})
}

fn runs(code: &[&str]) -> Vec<Turn> {
    code.iter().flat_map(|code| [Turn::code(*code), Turn::text("ok")]).collect()
}

#[test]
fn a_session_goes_on_where_it_was_by_either_api_and_either_name() {
    let client = world().client(runs(&["x = 41", "x + 1", "x + 2", "'x' in globals()"]));
    let first = client.respond(in_session("mine"));
    let second = client.respond(in_session("mine"));
    assert_eq!(logs(&second), "42");
    assert_eq!(container_of(&second), container_of(&first));
    // LiteLLM's own field is no field of any model's.
    let third = client.complete(json!({"litellm_metadata": {"session_id": "mine"}}));
    let ran = &third["choices"][0]["message"]["code_interpreter"];
    assert_eq!(ran["calls"][0]["outputs"][0]["logs"], "43");
    assert!(world().bodies(&client).iter().all(|body| body.get("litellm_metadata").is_none()));
    let other = client.respond(in_session("another"));
    assert_eq!(logs(&other), "False");
    assert_ne!(container_of(&other), container_of(&first));
}

#[test]
fn the_session_of_another_key_is_another() {
    let client = world().client(runs(&["x = 41"]));
    let first = client.respond(in_session("shared"));
    let stranger = client.stranger();
    world().model.script(&stranger.key, runs(&["'x' in globals()"]));
    let second = stranger.respond(in_session("shared"));
    assert_eq!(logs(&second), "False");
    assert_ne!(container_of(&second), container_of(&first));
}

#[test]
fn what_names_a_container_goes_before_the_session_and_one_that_is_gone_is_replaced() {
    let client = world().client(runs(&["1", "2", "3", "4"]));
    let first = container_of(&client.respond(in_session("s")));
    let made = client.post("/v1/containers", &json!({"name": "named"})).ok();
    let mut named = in_session("s");
    named["tools"] = json!([{"type": "code_interpreter", "container": made["id"]}]);
    assert_eq!(container_of(&client.respond(named)), made["id"].as_str().unwrap());
    client.delete(&format!("/v1/containers/{first}")).ok();
    let fresh = container_of(&client.respond(in_session("s")));
    assert_ne!(fresh, first);
    assert_eq!(container_of(&client.respond(in_session("s"))), fresh);
}

#[test]
fn requests_at_once_share_one_container() {
    let client = world().client(vec![Turn::code("1"); 8]);
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let client = client.clone();
            // Each takes two turns of the script; which of them says nothing more does not matter.
            thread::spawn(move || {
                client.create(json!({"metadata": {"session_id": "crowd"}, "max_tool_calls": 1})).status
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(client.get("/v1/containers").ok()["data"].as_array().unwrap().len(), 1);
}

#[test]
fn a_session_outlives_the_server() {
    let mut world = World::with("responses", "");
    let client = world.client(runs(&["open('kept.txt', 'w').write('x')", "open('kept.txt').read()"]));
    let first = client.respond(in_session("s"));
    world.crash_and_restart();
    let second = world.again(&client).respond(in_session("s"));
    assert_eq!(container_of(&second), container_of(&first));
    assert_eq!(logs(&second), "'x'");
}
