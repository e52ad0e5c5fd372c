//! The model's thoughts between its turns. The scripted model refuses what the real one refuses: thoughts
//! that it cannot read, and thoughts without what came of them.

use sandgate_testkit::{Item, Turn};
use serde_json::{Value, json};

use crate::common::{items, turn, world};

const THOUGHTS: &str = "reasoning.encrypted_content";
const SECRET: &str = "c2VjcmV0IHRob3VnaHRz";

fn thinking(item: Value) -> Turn {
    turn(json!({"items": [{"reasoning": true, "encrypted_content": SECRET}, item]}))
}

fn kinds(items: &Value) -> Vec<&str> {
    items.as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap_or("message")).collect()
}

#[test]
fn thoughts_are_asked_for_and_given_back_but_not_shown_unasked() {
    for fields in [json!({"model": "gpt-5-mini"}), json!({"reasoning": {"effort": "low"}})] {
        for stream in [false, true] {
            let turns = || [thinking(json!({"code": "1 + 1"})), thinking(json!({"text": "2"}))];
            let client = world().client(turns().into_iter().chain([Turn::text("3")]));
            let mut request = fields.clone();
            request["stream"] = json!(stream);
            let answer = client.create(request);
            assert!(!answer.text().contains("encrypted_content"), "{}", answer.text());
            let first =
                if stream { answer.events().last().unwrap()["response"].clone() } else { answer.ok() };
            assert_eq!(items(&first, "reasoning").len(), 2);
            // What was kept is whole: the conversation goes on with it, and whoever asks for it gets it.
            client.respond(json!({"previous_response_id": first["id"]}));
            let bodies = world().bodies(&client);
            assert_eq!(bodies[0]["include"], json!([THOUGHTS]));
            assert_eq!(bodies[1]["input"][1]["encrypted_content"], SECRET);
            let expected = [
                "message",
                "reasoning",
                "function_call",
                "function_call_output",
                "reasoning",
                "message",
                "message",
            ];
            assert_eq!(kinds(&bodies[2]["input"]), expected);
            let path = format!("/v1/responses/{}", first["id"].as_str().unwrap());
            assert!(!client.get(&path).text().contains(SECRET));
            let asked = client.get(&format!("{path}?include[]={THOUGHTS}")).ok();
            assert_eq!(items(&asked, "reasoning")[0]["encrypted_content"], SECRET);
        }
    }
}

#[test]
fn thoughts_sent_back_without_what_was_hidden_are_whole_again() {
    let client =
        world().client([thinking(json!({"code": "1 + 1"})), thinking(json!({"text": "2"})), Turn::text("3")]);
    let first = client.respond(json!({"model": "gpt-5", "store": false}));
    let mut input = vec![json!({"role": "user", "content": "go"})];
    input.extend(first["output"].as_array().unwrap().iter().cloned());
    input.push(json!({"role": "user", "content": "more"}));
    client.respond(json!({"model": "gpt-5", "store": false, "input": input}));
    let seen = &world().bodies(&client)[2]["input"];
    let thoughts: Vec<&Value> =
        seen.as_array().unwrap().iter().filter(|item| item["type"] == "reasoning").collect();
    assert_eq!(thoughts.len(), 2);
    assert!(thoughts.iter().all(|thought| thought["encrypted_content"] == SECRET));
}

#[test]
fn a_model_that_does_not_think_is_not_asked_and_thoughts_nobody_can_read_go() {
    let client = world().client([
        Turn::of([Item::reasoning(), Item::code("1 + 1")]),
        Turn::of([Item::reasoning(), Item::text("2")]),
        Turn::text("3"),
    ]);
    let first = client.respond(json!({}));
    assert_eq!(kinds(&first["output"]), ["reasoning", "code_interpreter_call", "reasoning", "message"]);
    client.respond(json!({"previous_response_id": first["id"]}));
    let bodies = world().bodies(&client);
    assert!(bodies[0].get("include").is_none());
    assert_eq!(kinds(&bodies[1]["input"]), ["message", "function_call", "function_call_output"]);
    assert!(bodies[1]["input"][1].get("id").is_none());
    assert_eq!(
        kinds(&bodies[2]["input"]),
        ["message", "function_call", "function_call_output", "message", "message"]
    );
}

#[test]
fn after_a_call_that_was_cut_off_the_conversation_goes_on() {
    let cut = turn(json!({"status": "incomplete", "items": [
        {"reasoning": true, "encrypted_content": SECRET}, {"code": "print('half"}]}));
    let client = world().client([cut, Turn::text("again")]);
    let first = client.respond(json!({}));
    assert_eq!(first["status"], "incomplete");
    let second = client.respond(json!({"previous_response_id": first["id"], "input": "go on"}));
    assert_eq!(items(&second, "message")[0]["content"][0]["text"], "again");
    assert_eq!(kinds(&world().bodies(&client)[1]["input"]), ["message", "message"]);
}

#[test]
fn a_call_that_was_refused_is_remembered_with_the_thought_that_led_to_it() {
    let client = world().client([
        Turn::code("print(1)"),
        thinking(json!({"code": "print(2)"})),
        Turn::text("one"),
        Turn::text("more"),
    ]);
    let first = client.respond(json!({"max_tool_calls": 1}));
    assert_eq!(kinds(&first["output"]), ["code_interpreter_call", "reasoning", "message"]);
    client.respond(json!({"previous_response_id": first["id"]}));
    let bodies = world().bodies(&client);
    let seen = &bodies[3]["input"];
    let expected = [
        "message",
        "function_call",
        "function_call_output",
        "reasoning",
        "function_call",
        "function_call_output",
        "message",
        "message",
    ];
    assert_eq!(kinds(seen), expected);
    assert!(seen[5]["output"].as_str().unwrap().contains("was not run"), "{}", seen[5]);
}
