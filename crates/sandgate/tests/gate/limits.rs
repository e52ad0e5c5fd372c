//! The gate's own limits: each ends in words, for the model while it can still do something about it, for
//! the client otherwise.

use std::thread;
use std::time::{Duration, Instant};

use sandgate_testkit::{Item, Turn};
use serde_json::{Value, json};

use crate::common::{
    OUTPUTS, World, code_tool, failure_of, items, no_internal_call, told, turn, wait_until, world,
};

fn has_tool(body: &Value) -> bool {
    body["tools"].as_array().is_some_and(|tools| tools.iter().any(|tool| tool["name"] == "python"))
}

fn may_call(body: &Value) -> bool {
    has_tool(body) && body["tool_choice"] != "none"
}

#[test]
fn a_model_that_calls_code_again_and_again_must_answer_at_last() {
    let world = World::with("responses", "gate: {rounds: 3}");
    let calls = |count| (0..count).map(|number| Turn::code(format!("print({number})")));
    let client = world.client(calls(3).chain([Turn::text("enough")]));
    let response = client.respond(json!({"tool_choice": "required"}));
    assert_eq!(items(&response, "code_interpreter_call").len(), 3);
    assert_eq!(items(&response, "message")[0]["content"][0]["text"], "enough");
    let bodies = world.bodies(&client);
    assert_eq!(bodies.iter().map(may_call).collect::<Vec<_>>(), [true, true, true, false]);
    assert!(told(&bodies[3]).contains("the last of 3 rounds"), "{}", told(&bodies[3]));
    // Servers refuse calls in a conversation that has no tools.
    assert!(has_tool(&bodies[3]));

    // It may not call any more and does so all the same.
    let client = world.client(calls(9));
    let answer = client.create(json!({}));
    let error = answer.refused(500);
    assert!(answer.head.contains("x-should-retry: false"), "{}", answer.head);
    assert!(error["message"].as_str().unwrap().contains("3 rounds"), "{error}");
    no_internal_call(&answer);
    assert_eq!(world.asked(&client).len(), 4);

    let client = world.client(calls(9));
    let answer = client.create_stream(json!({}));
    no_internal_call(&answer);
    let events = answer.events();
    assert!(failure_of(&events).contains("3 rounds"));
    assert_eq!(items(&events.last().unwrap()["response"], "code_interpreter_call").len(), 3);

    // A tool of the client's own stays.
    let function = json!({"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}, "strict": false});
    let client = world.client(calls(3).chain([Turn::of([Item::call("f", "{}")])]));
    let response = client.respond(json!({"tools": [code_tool()[0], function],
        "tool_choice": {"type": "allowed_tools", "mode": "required", "tools": [{"type": "code_interpreter"}]}}));
    assert_eq!(items(&response, "function_call")[0]["name"], "f");
    let bodies = world.bodies(&client);
    assert_eq!((&bodies[3]["tools"], has_tool(&bodies[2])), (&json!([function]), true));
}

#[test]
fn max_tool_calls_are_not_passed() {
    let client = world().client([
        Turn::of([Item::code("print(1)"), Item::code("print(2)"), Item::code("print(3)")]),
        Turn::code("print(4)"),
        Turn::text("done"),
    ]);
    let response = client.respond(json!({"max_tool_calls": 2, "include": [OUTPUTS]}));
    let calls = items(&response, "code_interpreter_call");
    assert_eq!(calls.iter().map(|call| &call["code"]).collect::<Vec<_>>(), ["print(1)", "print(2)"]);
    assert!(items(&response, "function_call").is_empty());
    assert_eq!((&response["status"], &response["max_tool_calls"]), (&json!("completed"), &json!(2)));
    let bodies = world().bodies(&client);
    assert!(!may_call(&bodies[1]) && told(&bodies[1]).contains("2 tool calls"), "{}", told(&bodies[1]));

    let client = world().client([Turn::text("none")]);
    client.respond(json!({"max_tool_calls": 0, "tool_choice": "required"}));
    assert!(!may_call(&world().bodies(&client)[0]));
}

#[test]
fn a_response_past_its_time_ends() {
    let world = World::with("responses", "gate: {total_seconds: 3}");
    let slow_model = vec![turn(json!({"items": [{"text": "late"}], "delay_ms": 60_000}))];
    let slow_later = vec![Turn::code("1"), slow_model[0].clone()];
    let slow_code = vec![Turn::code("import time; time.sleep(60)")];
    let slow_words = vec![turn(json!({"items": [{"text": "x".repeat(999)}], "delta_delay_ms": 1000}))];
    for turns in [&slow_model, &slow_later, &slow_code] {
        let client = world.client(turns.clone());
        let begin = Instant::now();
        let answer = client.create(json!({}));
        let error = answer.refused(500);
        assert!(error["message"].as_str().unwrap().contains("3 seconds"), "{error}");
        no_internal_call(&answer);
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    }
    for turns in [&slow_later, &slow_code, &slow_words] {
        let client = world.client(turns.clone());
        let begin = Instant::now();
        let answer = client.create_stream(json!({}));
        no_internal_call(&answer);
        assert!(failure_of(&answer.events()).contains("3 seconds"));
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    }
    // Nothing was sent yet, so it can still be said in the status.
    let client = world.client(slow_model);
    client.create_stream(json!({})).refused(500);
    wait_until("the upstream is left", || world.asked(&client)[0].hung_up);
}

#[test]
fn a_backend_without_room() {
    let world = World::with("responses", "max_live: 1");
    let holder = world.client([Turn::code("1"), Turn::text("1")]);
    let id = holder.respond(json!({}))["output"][0]["container_id"].as_str().unwrap().to_owned();
    let client = world.client(vec![Turn::code("print(1)"); 2]);
    let answer = client.create(json!({}));
    let error = answer.refused(503);
    no_internal_call(&answer);
    assert!(answer.head.contains("retry-after:"), "{}", answer.head);
    assert_eq!(error["type"], "server_error");
    let answer = client.create_stream(json!({}));
    no_internal_call(&answer);
    failure_of(&answer.events());
    client.post("/v1/containers", &json!({"name": "more"})).refused(503);
    assert_eq!(client.get("/v1/containers").ok()["data"], json!([]));
    // The place comes free.
    holder.delete(&format!("/v1/containers/{id}")).ok();
    let client = world.client([Turn::code("print(1)"), Turn::text("1")]);
    client.respond(json!({}));
}

#[test]
fn executions_of_one_owner_wait_for_each_other() {
    let world = World::with("responses", "gate: {executions_per_owner: 1}");
    let slow = || [Turn::code("import time; time.sleep(2)"), Turn::text("1")];
    let both = || slow().into_iter().chain(slow());
    let client = world.client(both());
    let begin = Instant::now();
    let other = thread::spawn({
        let client = client.clone();
        move || client.create(json!({})).status
    });
    let statuses = [client.create(json!({})).status, other.join().unwrap()];
    // Whoever came first took the other's second turn, or not: nothing ran at once in any case.
    assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
    assert!(begin.elapsed() >= Duration::from_secs(4), "{:?}", begin.elapsed());
}
