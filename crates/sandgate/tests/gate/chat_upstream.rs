//! The same loop in front of a server that speaks Chat Completions only: for the client nothing differs.

use std::sync::LazyLock;

use sandgate_testkit::{Item, Turn, Usage};
use serde_json::{Value, json};

use crate::common::{OUTPUTS, World, code_tool, failure_of, items, kinds, no_internal_call, turn, world};

static CHAT: LazyLock<World> = LazyLock::new(|| World::for_good("chat"));

fn two_rounds() -> Vec<Turn> {
    let usage =
        |tokens| Some(Usage { input_tokens: tokens, output_tokens: 3, cached_tokens: 1, ..Usage::default() });
    let mut turns = vec![
        Turn::of([
            Item::summary("first I count"),
            Item::text("Let me see."),
            Item::code("x = 20 + 1\nprint(x)"),
        ]),
        Turn::of([Item::code("x * 2")]),
        Turn::text("It is 42."),
    ];
    turns[0].usage = usage(10);
    turns[1].usage = usage(20);
    turns[2].usage = usage(40);
    turns
}

/// The last tool message of a request.
fn told(body: &Value) -> &str {
    let messages = body["messages"].as_array().unwrap().iter().rev();
    messages
        .filter(|message| message["role"] == "tool")
        .filter_map(|message| message["content"].as_str())
        .next()
        .unwrap()
}

#[track_caller]
fn is_the_answer(response: &Value) {
    assert_eq!(response["status"], "completed");
    let calls = items(response, "code_interpreter_call");
    assert_eq!(calls.iter().map(|call| &call["code"]).collect::<Vec<_>>(), ["x = 20 + 1\nprint(x)", "x * 2"]);
    assert_eq!(calls[0]["outputs"], json!([{"type": "logs", "logs": "21\n"}]));
    assert_eq!(calls[1]["outputs"], json!([{"type": "logs", "logs": "42"}]));
    assert_eq!(items(response, "message").last().unwrap()["content"][0]["text"], "It is 42.");
    assert_eq!(items(response, "function_call").len(), 0);
    let usage = &response["usage"];
    assert_eq!((&usage["input_tokens"], &usage["output_tokens"]), (&json!(70), &json!(9)));
    assert_eq!(
        (&usage["total_tokens"], &usage["input_tokens_details"]["cached_tokens"]),
        (&json!(79), &json!(3))
    );
    assert_eq!(response["tools"], code_tool());
}

#[test]
fn two_rounds_as_a_whole() {
    let client = CHAT.client(two_rounds());
    is_the_answer(&client.respond(json!({"include": [OUTPUTS]})));
    let bodies = CHAT.bodies(&client);
    assert_eq!(told(&bodies[1]), "21");
    assert_eq!(told(&bodies[2]), "42");
}

#[test]
fn two_rounds_streamed_in_pieces_of_any_size() {
    for bytes in [None, Some(1), Some(50)] {
        let mut turns = two_rounds();
        turns.iter_mut().for_each(|turn| turn.bytes = bytes);
        let client = CHAT.client(turns);
        let events = client.stream(json!({"include": [OUTPUTS]}));
        is_the_answer(&events.last().unwrap()["response"]);
        let code: String = events
            .iter()
            .filter(|event| event["type"] == "response.code_interpreter_call_code.delta")
            .map(|event| event["delta"].as_str().unwrap())
            .collect();
        assert_eq!(code, "x = 20 + 1\nprint(x)x * 2");
        let added: Vec<u64> = events
            .iter()
            .filter(|event| event["type"] == "response.output_item.added")
            .map(|event| event["output_index"].as_u64().unwrap())
            .collect();
        assert_eq!(added, (0..added.len() as u64).collect::<Vec<_>>());
        CHAT.asked(&client);
    }
}

/// The events of a code call are the same ones in the same order as in front of a Responses upstream.
#[test]
fn the_events_are_those_of_a_responses_upstream() {
    let turns = || vec![Turn::code("print(6 * 7)"), Turn::text("It is 42.")];
    let steps = |events: Vec<Value>| {
        let mut steps: Vec<String> = kinds(&events).into_iter().map(str::to_owned).collect();
        steps.dedup();
        steps
    };
    let chat = steps(CHAT.client(turns()).stream(json!({})));
    assert_eq!(chat, steps(world().client(turns()).stream(json!({}))));
}

#[test]
fn a_function_of_the_client_beside_code() {
    let function = json!({"type": "function", "name": "weather", "strict": true, "description": "d",
        "parameters": {"type": "object", "properties": {}, "required": [], "additionalProperties": false}});
    let tools = json!([function, code_tool()[0]]);
    for stream in [false, true] {
        let client = CHAT.client([
            Turn::of([Item::code("print(6 * 7)"), Item::call("weather", "{}")]),
            Turn::text("42 degrees"),
        ]);
        let answer = client.create(json!({"tools": tools, "stream": stream}));
        let first = if stream { answer.events().last().unwrap()["response"].clone() } else { answer.ok() };
        let kinds: Vec<&Value> =
            first["output"].as_array().unwrap().iter().map(|item| &item["type"]).collect();
        assert_eq!(kinds, ["code_interpreter_call", "function_call"]);
        let call = &items(&first, "function_call")[0];
        let output = json!([{"type": "function_call_output", "call_id": call["call_id"], "output": "warm"}]);
        let second =
            client.respond(json!({"tools": tools, "previous_response_id": first["id"], "input": output}));
        assert_eq!(items(&second, "message")[0]["content"][0]["text"], "42 degrees");
        assert_eq!(told(&CHAT.bodies(&client)[1]), "warm");
    }
}

#[test]
fn a_custom_tool_of_the_client_beside_code() {
    let tools = json!([{"type": "custom", "name": "patch", "description": "d"}, code_tool()[0]]);
    for stream in [false, true] {
        let client = CHAT.client([
            Turn::of([Item::code("print(6 * 7)"), Item::call("patch", "{\"input\": \"*** Begin\"}")]),
            Turn::text("patched"),
        ]);
        let answer = client.create(json!({"tools": tools, "stream": stream}));
        let first = if stream { answer.events().last().unwrap()["response"].clone() } else { answer.ok() };
        let call = items(&first, "custom_tool_call")[0];
        assert_eq!((&call["name"], &call["input"]), (&json!("patch"), &json!("*** Begin")));
        let output =
            json!([{"type": "custom_tool_call_output", "call_id": call["call_id"], "output": "done"}]);
        client.respond(json!({"tools": tools, "previous_response_id": first["id"], "input": output}));
        let bodies = CHAT.bodies(&client);
        assert_eq!(bodies[0]["tools"][0]["function"]["name"], "patch");
        assert_eq!(told(&bodies[1]), "done");
    }
}

#[test]
fn a_conversation_goes_on() {
    let client = CHAT.client([Turn::code("x = 41"), Turn::text("ok"), Turn::code("x + 1"), Turn::text("42")]);
    let first = client.respond(json!({"instructions": "be brief"}));
    let second = client.respond(json!({"previous_response_id": first["id"], "include": [OUTPUTS]}));
    assert_eq!(second["output"][0]["outputs"][0]["logs"], "42");
    assert_eq!(second["output"][0]["container_id"], first["output"][0]["container_id"]);
    CHAT.asked(&client);
}

#[test]
fn forced_choices_are_relaxed_and_broken_arguments_told() {
    let client = CHAT.client([
        turn(json!({"items": [{"arguments": "{\"code\": 5}"}]})),
        Turn::code("print(1)"),
        Turn::text("one"),
    ]);
    let response = client.respond(json!({"tool_choice": {"type": "code_interpreter"}}));
    assert_eq!(response["output"][0]["status"], "failed");
    assert_eq!(response["tool_choice"], json!({"type": "code_interpreter"}));
    let bodies = CHAT.bodies(&client);
    assert_eq!(bodies[0]["tool_choice"], json!({"type": "function", "function": {"name": "python"}}));
    assert_eq!(bodies[1]["tool_choice"], "auto");
    assert!(told(&bodies[1]).contains("was not run"), "{}", told(&bodies[1]));
}

fn chunk(delta: Value, finish: Value) -> String {
    let chunk = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]});
    format!("data: {chunk}\n\n")
}

/// A call of ours as it begins.
fn begun() -> String {
    chunk(
        json!({"role": "assistant", "content": null, "tool_calls": [{"index": 0, "id": "call_1", "type": "function",
            "function": {"name": "python", "arguments": "{\"code\": \"print(1)"}}]}),
        Value::Null,
    )
}

#[test]
fn chunks_that_are_broken() {
    let whole = |kind: &str, body: Value| json!({"http": {"status": 200, "headers": {"content-type": kind}, "body": body}});
    let broken = [
        ("half a chunk", json!({"raw": format!("{}data: {{\"id\":", begun())})),
        ("not JSON", json!({"raw": format!("{}data: nonsense\n\n", begun())})),
        ("no finish", json!({"raw": begun()})),
        ("nothing", json!({"raw": ""})),
        ("only the end", json!({"raw": "data: [DONE]\n\n"})),
        // data: {"id": "\xff"}
        ("not UTF-8", json!({"raw_base64": "ZGF0YTogeyJpZCI6ICL/In0KCg=="})),
        ("cut", json!({"items": [{"code": "print(1)"}], "cut_after": 2})),
        (
            "an error among the chunks",
            json!({"raw": format!("{}data: {{\"error\": {{\"message\": \"the upstream's answer\"}}}}\n\n", begun())}),
        ),
        ("no choices", whole("application/json", json!({"id": "x", "object": "chat.completion"}))),
        ("a page of a proxy", whole("text/html", json!("<html>python</html>"))),
    ];
    for (name, what) in broken {
        for rounds in [0, 1] {
            let after = || {
                let mut turns = vec![Turn::code("print('one')"); rounds];
                turns.extend(vec![turn(what.clone()); 3]);
                CHAT.client(turns)
            };
            let answer = after().create(json!({}));
            no_internal_call(&answer);
            // What the model says of itself is not the same as an answer that cannot be read.
            let status = if name == "an error among the chunks" { 500 } else { 502 };
            assert_eq!(answer.status, status, "{name}: {}", answer.text());
            answer.refused(status);
            let answer = after().create_stream(json!({}));
            no_internal_call(&answer);
            if answer.status == 200 {
                let said = failure_of(&answer.events());
                assert!(said.contains("the upstream's answer"), "{name}: {said}");
            } else {
                assert_eq!(rounds, 0, "{name}");
                answer.refused(502);
            }
        }
    }
}

#[test]
fn refusals_are_passed_on() {
    for status in [400, 401, 429, 500] {
        let body = json!({"error": {"message": "no", "type": "t", "param": null, "code": "c"}});
        let refusing = || {
            turn(
                json!({"http": {"status": status, "headers": {"x-should-retry": "false", "retry-after": "3"}, "body": body}}),
            )
        };
        let answer = CHAT.client([refusing()]).create(json!({}));
        assert_eq!((answer.status, answer.json()), (status, body.clone()));
        assert!(answer.head.contains("retry-after: 3"), "{}", answer.head);
        let events = CHAT.client([Turn::code("1"), refusing()]).stream(json!({}));
        assert_eq!(failure_of(&events), "no");
    }
}

#[test]
fn an_answer_cut_short_is_incomplete() {
    for stream in [false, true] {
        let short = turn(json!({"items": [{"code": "print('half"}], "status": "incomplete"}));
        let client = CHAT.client([short]);
        let answer = client.create(json!({"stream": stream}));
        no_internal_call(&answer);
        let response = if stream { answer.events().last().unwrap()["response"].clone() } else { answer.ok() };
        assert_eq!(response["status"], "incomplete");
        assert_eq!(response["incomplete_details"]["reason"], "max_output_tokens");
    }
}
