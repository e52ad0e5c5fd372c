//! The six reference traces, event for event.

use sandgate_testkit::{Item, Trace, Turn, Usage, merge_deltas, normalise};
use serde_json::{Value, json};

use crate::common::{Client, world};

/// The turns of the model that lead to a trace: its items, with a new turn after each code call.
fn script(trace: &Trace) -> Vec<Turn> {
    let response = trace.response().unwrap();
    let mut turns = vec![Vec::new()];
    for item in response["output"].as_array().unwrap() {
        let turn = turns.last_mut().unwrap();
        match item["type"].as_str().unwrap() {
            "reasoning" => turn.push(Item::reasoning()),
            "message" => turn.push(Item::text(item["content"][0]["text"].as_str().unwrap())),
            "code_interpreter_call" => {
                turn.push(Item::code(item["code"].as_str().unwrap()));
                turns.push(Vec::new());
            }
            other => panic!("{other}"),
        }
    }
    turns.into_iter().map(Turn::of).collect()
}

fn play(name: &str, stream: bool) -> (Client, Trace, Value) {
    let trace = Trace::named(name).unwrap();
    let client = world().client(script(&trace));
    let mut request = trace.request().unwrap();
    request["stream"] = json!(stream);
    let answer = client.post("/v1/responses", &request);
    let seen = if stream { Value::Array(merge_deltas(&answer.events())) } else { answer.ok() };
    (client, trace, seen)
}

/// Without what no script can foretell: tokens, and the numbers that dice give.
fn comparable(mut value: Value) -> Value {
    fn walk(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                if let Some(usage) = fields.get_mut("usage").filter(|usage| !usage.is_null()) {
                    *usage = json!("usage");
                }
                if fields.get("code").and_then(Value::as_str).is_some_and(|code| code.contains("(s)"))
                    && let Some(logs) =
                        fields.get_mut("outputs").and_then(|outputs| outputs[0].get_mut("logs"))
                {
                    let rolled = logs.as_str().unwrap();
                    *logs = json!(rolled.chars().filter(|c| !c.is_ascii_digit()).collect::<String>());
                }
                fields.values_mut().for_each(walk);
            }
            Value::Array(items) => items.iter_mut().for_each(walk),
            _ => {}
        }
    }
    walk(&mut value);
    normalise(&mut value);
    value
}

fn matches_trace(name: &str) {
    let (client, trace, seen) = play(name, true);
    let expected = comparable(Value::Array(merge_deltas(&trace.events().unwrap())));
    let seen = comparable(seen);
    let (seen, expected) = (seen.as_array().unwrap(), expected.as_array().unwrap());
    for (seen, expected) in seen.iter().zip(expected) {
        assert_eq!(seen, expected, "{name}");
    }
    assert_eq!(seen.len(), expected.len(), "{name}");
    world().asked(&client);

    let (client, trace, seen) = play(name, false);
    assert_eq!(comparable(seen), comparable(trace.response().unwrap()), "{name}");
    world().asked(&client);
}

#[test]
fn one_call() {
    matches_trace("1_one_call");
}

#[test]
fn one_call_without_include() {
    matches_trace("1b_one_call_without_include");
}

#[test]
fn two_calls() {
    matches_trace("2_two_calls");
}

#[test]
fn a_call_that_errors() {
    matches_trace("3_call_that_errors");
}

#[test]
fn an_image_output() {
    matches_trace("4_image_output");
}

#[test]
fn a_file_output_with_citation() {
    matches_trace("5_file_output_with_citation");
}

#[test]
fn usage_is_the_sum_of_all_turns() {
    let usage = |tokens| Usage { input_tokens: tokens, output_tokens: 2, ..Usage::default() };
    let mut turns = vec![Turn::code("1+1"), Turn::text("2")];
    turns[0].usage = Some(usage(10));
    turns[1].usage = Some(usage(30));
    let response = world().client(turns).respond(json!({}));
    assert_eq!(response["usage"]["input_tokens"], 40);
    assert_eq!(response["usage"]["output_tokens"], 4);
    assert_eq!(response["usage"]["input_tokens_details"]["cache_write_tokens"], 0);
}
