//! An upstream that refuses, breaks off or sends nonsense, in the first turn and after code has run: the
//! client gets a proper error, and never a half-finished response that looks like a whole one.

use sandgate_testkit::Turn;
use serde_json::{Value, json};

use crate::common::{Client, World, failure_of, items, no_internal_call, turn, world};

/// A function call of ours, whole, in the middle of a turn that never ends.
fn no_end() -> String {
    let call = json!({"type": "function_call", "id": "fc_0123456789abcdef0123456789abcdef", "call_id": "call_abc",
        "name": "python", "arguments": "{\"code\": \"print(1)\"}", "status": "completed"});
    let mut begun = call.clone();
    begun["arguments"] = json!("");
    begun["status"] = json!("in_progress");
    let events = [
        json!({"type": "response.output_item.added", "sequence_number": 0, "output_index": 0, "item": begun}),
        json!({"type": "response.output_item.done", "sequence_number": 1, "output_index": 0, "item": call}),
    ];
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

/// Turns that are no turns.
fn broken() -> Vec<(&'static str, Value)> {
    let whole = |kind: &str, body: Value| json!({"http": {"status": 200, "headers": {"content-type": kind}, "body": body}});
    vec![
        ("half an event", json!({"raw": "event: response.created\ndata: {\"type\":\"response.cre"})),
        // data: {"type":"response.created","x":"\xff\xfe"}
        ("not UTF-8", json!({"raw_base64": "ZGF0YTogeyJ0eXBlIjoicmVzcG9uc2UuY3JlYXRlZCIsIngiOiL//iJ9Cgo="})),
        ("not JSON", json!({"raw": "data: {nonsense}\n\n"})),
        ("not an object", json!({"raw": "data: [\"python\"]\n\n"})),
        ("nothing", json!({"raw": ""})),
        ("no event", json!({"raw": ": a comment\n\n"})),
        ("only the end", json!({"raw": "data: [DONE]\n\n"})),
        ("no end", json!({"raw": no_end()})),
        ("cut at once", json!({"items": [{"code": "print(1)"}], "cut_after": 0})),
        ("a page of a proxy", whole("text/html", json!("<html>python</html>"))),
        (
            "half of JSON",
            whole("application/json", json!("{\"id\": \"resp_1\", \"output\": [{\"name\": \"python\"")),
        ),
        ("no response", whole("application/json", json!({"hello": "python"}))),
        (
            "a response under way",
            whole("application/json", json!({"id": "resp_1", "status": "in_progress", "output": []})),
        ),
    ]
}

/// The answer to this turn as the first one, or as the one after code has run. Tries of a later turn that
/// are of no avail are scripted, too.
fn after(rounds: usize, what: &Value) -> Client {
    let mut turns = vec![Turn::code("print('one')"); rounds];
    turns.extend(vec![turn(what.clone()); 3]);
    world().client(turns)
}

#[test]
fn an_answer_that_is_broken() {
    for (name, what) in broken() {
        for rounds in [0, 1] {
            let client = after(rounds, &what);
            let answer = client.create(json!({}));
            let error = answer.refused(502);
            no_internal_call(&answer);
            assert!(error["message"].as_str().unwrap().contains("the upstream's answer"), "{name}: {error}");
            assert_eq!(error["type"], "server_error", "{name}");
            world().asked(&client);

            let client = after(rounds, &what);
            let answer = client.create_stream(json!({}));
            if rounds == 0 && what.get("http").is_some() {
                // It was known before the answer began.
                answer.refused(502);
                continue;
            }
            no_internal_call(&answer);
            let events = answer.events();
            let said = failure_of(&events);
            assert!(said.contains("the upstream's answer"), "{name}: {said}");
            let failed = &events.last().unwrap()["response"];
            assert!(items(failed, "code_interpreter_call").len() >= rounds, "{name}: {failed}");
            let id = failed["id"].as_str().unwrap();
            assert_eq!(client.get(&format!("/v1/responses/{id}")).ok()["status"], "failed", "{name}");
        }
    }
}

/// After each number of events there is.
#[test]
fn a_connection_that_is_cut() {
    let events = 9;
    for item in [json!({"code": "print(1)"}), json!({"text": "one"})] {
        for cut in 1..events {
            for rounds in [0, 1] {
                let what = json!({"items": [item], "chunk": 4, "cut_after": cut});
                let client = after(rounds, &what);
                let answer = client.create_stream(json!({}));
                no_internal_call(&answer);
                let said = failure_of(&answer.events());
                assert!(said.contains("the upstream's answer"), "{cut}: {said}");
                assert_eq!(world().asked(&client).len(), rounds + 1, "nobody asks again for what was shown");
            }
        }
    }
}

#[test]
fn a_later_turn_is_tried_again() {
    let unwell = turn(json!({"http": {"status": 503, "body": {"error": {"message": "busy"}}}}));
    let cut = turn(json!({"items": [{"text": "two"}], "cut_after": 0}));
    let client = world().client([Turn::code("print('one')"), unwell, cut, Turn::text("two")]);
    let events = client.stream(json!({}));
    assert_eq!(events.last().unwrap()["response"]["output"][1]["content"][0]["text"], "two");
    assert_eq!(world().asked(&client).len(), 4);
}

fn refusing(status: u16) -> Value {
    json!({"http": {"status": status,
        "headers": {"retry-after": "7", "x-should-retry": "false", "x-ratelimit-remaining-requests": "0",
            "x-request-id": "req_of_the_upstream"},
        "body": {"error": {"message": format!("no, {status}"), "type": "some_error", "param": null, "code": "a_code"}}}})
}

#[test]
fn a_refusal_is_passed_on_as_it_is() {
    for status in [400, 401, 403, 404, 429, 500, 503] {
        for (rounds, stream) in [(0, false), (0, true), (1, false)] {
            let client = after(rounds, &refusing(status));
            let answer = client.create(json!({"stream": stream}));
            assert_eq!(answer.json(), refusing(status)["http"]["body"], "{status} {rounds}");
            assert_eq!(answer.status, status);
            for header in [
                "retry-after: 7",
                "x-ratelimit-remaining-requests: 0",
                "x-upstream-request-id: req_of_the_upstream",
            ] {
                assert!(answer.head.contains(header), "{header}: {}", answer.head);
            }
            assert_eq!(world().asked(&client).len(), rounds + 1);
        }
        let client = after(1, &refusing(status));
        let answer = client.create_stream(json!({}));
        no_internal_call(&answer);
        let events = answer.events();
        assert_eq!(failure_of(&events), format!("no, {status}"));
        assert_eq!(events[events.len() - 2]["error"]["code"], "a_code");
        assert_eq!(world().asked(&client).len(), 2);
    }
}

#[test]
fn a_refusal_that_is_no_json() {
    let page = json!({"http": {"status": 502, "headers": {"content-type": "text/html", "x-should-retry": "false"},
        "body": "<html>Bad Gateway</html>"}});
    let answer = after(0, &page).create(json!({}));
    assert_eq!((answer.status, answer.text().as_str()), (502, "<html>Bad Gateway</html>"));
    let events = after(1, &page).stream(json!({}));
    assert!(failure_of(&events).contains("502"));
}

#[test]
fn a_model_that_says_that_it_failed() {
    let failing = json!({"items": [{"text": "ha"}], "status": "failed",
        "error": {"code": "rate_limit_exceeded", "message": "too fast"}});
    for rounds in [0, 1] {
        let events = after(rounds, &failing).stream(json!({}));
        assert_eq!(failure_of(&events), "too fast");
        let answer = after(rounds, &failing).create(json!({}));
        no_internal_call(&answer);
        // As a whole, a failed response is a response.
        assert_eq!(answer.ok()["status"], "failed");
        assert_eq!(answer.json()["error"]["message"], "too fast");
    }
}

/// As the specification has it, not as the real service does.
#[test]
fn an_error_in_the_flat_form_becomes_a_nested_one() {
    let flat = json!({"type": "error", "sequence_number": 0, "code": "server_error", "message": "flat", "param": null});
    for rounds in [0, 1] {
        let raw = json!({"raw": format!("event: error\ndata: {flat}\n\n")});
        assert_eq!(failure_of(&after(rounds, &raw).stream(json!({}))), "flat");
        assert_eq!(after(rounds, &raw).create(json!({})).refused(500)["message"], "flat");
    }
}

#[test]
fn json_where_a_stream_was_asked_for_becomes_a_stream() {
    let whole = |item: Value| turn(json!({"items": [{"reasoning": "hm"}, item], "json_only": true}));
    let client = world().client([whole(json!({"code": "print(6 * 7)"})), whole(json!({"text": "42"}))]);
    let events = client.stream(json!({}));
    let response = &events.last().unwrap()["response"];
    assert_eq!(response["status"], "completed");
    assert_eq!(response["output"][1]["code"], "print(6 * 7)");
    assert_eq!(response["output"][3]["content"][0]["text"], "42");
    assert_eq!(world().asked(&client).len(), 2);
}

#[test]
fn a_turn_that_was_cut_short_by_its_tokens() {
    let long = json!({"items": [{"reasoning": true}, {"code": "print('half a"}], "status": "incomplete"});
    for stream in [false, true] {
        let client = after(0, &long);
        let answer = client.create(json!({"stream": stream}));
        no_internal_call(&answer);
        let response = if stream { answer.events().last().unwrap()["response"].clone() } else { answer.ok() };
        assert_eq!(response["status"], "incomplete");
        assert_eq!(response["incomplete_details"]["reason"], "max_output_tokens");
        assert_eq!(world().asked(&client).len(), 1);
    }
}

/// Some servers say a call's name only at its end.
#[test]
fn a_call_that_says_its_name_late_is_still_ours() {
    let late = no_end().replacen("\"name\":\"python\"", "\"name\":\"\"", 1);
    let end = json!({"type": "response.completed", "sequence_number": 2, "response": {"id": "resp_1",
        "object": "response", "status": "completed", "output": []}});
    let late = json!({"raw": format!("{late}data: {end}\n\n"), "foreign": true});
    let last = turn(json!({"items": [{"text": "1"}], "foreign": true}));
    let client = world().client([turn(late), last]);
    let answer = client.create_stream(json!({}));
    no_internal_call(&answer);
    let events = answer.events();
    let response = &events.last().unwrap()["response"];
    assert_eq!(
        (&response["output"][0]["code"], &response["status"]),
        (&json!("print(1)"), &json!("completed"))
    );
    assert_eq!(world().asked(&client).len(), 2);
}

#[test]
fn an_upstream_that_is_not_there() {
    let mut world = World::with("responses", "");
    let client = world.client([]);
    world.lose_model();
    for stream in [false, true] {
        let answer = client.create(json!({"stream": stream}));
        let error = answer.refused(502);
        assert!(error["message"].as_str().unwrap().contains("cannot be reached"), "{error}");
        assert!(!answer.text().contains("127.0.0.1"), "where it is is nobody's business: {}", answer.text());
    }
    client.post("/v1/responses", &json!({"model": "m", "input": "go"})).refused(502);
    client.get("/v1/models").refused(502);
    // What needs no model goes on.
    client.get("/v1/containers").ok();
    client.get("/v1/files").ok();
}
