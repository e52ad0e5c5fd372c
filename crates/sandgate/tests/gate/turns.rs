//! What the model is asked in each turn, and what of its answers the client gets.

use sandgate_testkit::{Item, Turn};
use serde_json::{Value, json};

use crate::common::{OUTPUTS, code_tool, told, turn, wait_until, world};

fn kinds(items: &Value) -> Vec<&str> {
    items.as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap_or("message")).collect()
}

#[test]
fn a_function_of_the_client_beside_code_ends_the_response_and_the_next_goes_on() {
    let function = json!({"type": "function", "name": "weather", "strict": true,
        "parameters": {"type": "object", "properties": {}, "required": [], "additionalProperties": false}});
    let tools = json!([code_tool()[0], function]);
    let client = world().client([
        turn(json!({"items": [{"reasoning": true, "encrypted_content": "c2VjcmV0"},
            {"code": "x = 6 * 7\nprint(x)"}, {"call": {"name": "weather", "arguments": "{}"}}]})),
        Turn::text("42 degrees"),
    ]);
    let first = client.respond(json!({"tools": tools}));
    assert_eq!(kinds(&first["output"]), ["reasoning", "code_interpreter_call", "function_call"]);
    assert_eq!((&first["status"], &first["tools"]), (&json!("completed"), &tools));
    let call = &first["output"][2];
    assert_eq!(call["name"], "weather");
    let answer = json!([{"type": "function_call_output", "call_id": call["call_id"], "output": "warm"}]);
    let second =
        client.respond(json!({"tools": tools, "previous_response_id": first["id"], "input": answer}));
    assert_eq!(second["output"][0]["content"][0]["text"], "42 degrees");
    let seen = &world().bodies(&client)[1]["input"];
    let expected = [
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "function_call",
        "function_call_output",
    ];
    assert_eq!(kinds(seen), expected);
}

#[test]
fn calls_in_one_turn_run_in_their_order() {
    let both = Turn::of([Item::code("x = 1"), Item::code("x += 1\nx")]);
    let client = world().client([both, Turn::text("2")]);
    let events = client.stream(json!({"include": [OUTPUTS]}));
    let done: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "response.output_item.done")
        .map(|event| &event["item"]["outputs"])
        .collect();
    assert_eq!(done, [&json!([]), &json!([{"type": "logs", "logs": "2"}]), &Value::Null]);
    assert_eq!(world().asked(&client).len(), 2);
}

#[test]
fn reasoning_is_kept_through_the_loop() {
    let thinking = turn(json!({"items": [
        {"reasoning": "I will count", "encrypted_content": "c2VjcmV0IHRob3VnaHRz"}, {"code": "1+1"}]}));
    let client = world().client([thinking, Turn::text("2")]);
    let request = json!({"include": ["reasoning.encrypted_content"], "reasoning": {"summary": "auto"}});
    let response = client.respond(request);
    let bodies = world().bodies(&client);
    assert_eq!(bodies[0]["include"], json!(["reasoning.encrypted_content"]));
    let fed_back = &bodies[1]["input"][1];
    assert_eq!(
        (&fed_back["type"], &fed_back["encrypted_content"]),
        (&json!("reasoning"), &json!("c2VjcmV0IHRob3VnaHRz"))
    );
    assert_eq!(response["output"][0]["encrypted_content"], "c2VjcmV0IHRob3VnaHRz");
    assert_eq!(response["output"][0]["summary"][0]["text"], "I will count");
}

#[test]
fn every_other_field_reaches_the_upstream_in_every_turn() {
    let fields = json!({
        "instructions": "be brief", "metadata": {"a": "b"}, "temperature": 0.5, "top_p": 0.9,
        "parallel_tool_calls": false, "truncation": "auto", "service_tier": "flex", "prompt_cache_key": "k",
        "safety_identifier": "s", "text": {"format": {"type": "json_schema", "name": "n", "strict": true,
            "schema": {"type": "object", "properties": {}, "required": [], "additionalProperties": false}}},
        "reasoning": {"effort": "low"},
    });
    let client = world().client([Turn::code("1"), Turn::text("{}")]);
    let mut request = fields.clone();
    request["include"] = json!([OUTPUTS]);
    request["store"] = json!(true);
    let response = client.respond(request);
    for body in world().bodies(&client) {
        for (name, value) in fields.as_object().unwrap() {
            assert_eq!(&body[name], value, "{name}");
        }
        assert_eq!(body["store"], false, "what is said stays here");
        assert_eq!(
            body["include"],
            json!(["reasoning.encrypted_content"]),
            "nobody upstream knows our outputs"
        );
    }
    assert_eq!(response["instructions"], "be brief");
    assert_eq!(response["metadata"], json!({"a": "b"}));
    assert_eq!(response["store"], true);
}

#[test]
fn a_search_for_tools_that_the_client_makes_ends_the_response() {
    let search = |execution: &str| {
        json!({"item": {"type": "tool_search_call", "call_id": "call_s", "status": "completed",
        "execution": execution, "arguments": {"query": "maps"}}})
    };
    let beside = |execution: &str| turn(json!({"items": [{"code": "print(1)"}, search(execution)]}));
    let client = world().client([beside("client")]);
    let response = client.respond(json!({}));
    assert_eq!(kinds(&response["output"]), ["code_interpreter_call", "tool_search_call"]);
    assert_eq!(world().asked(&client).len(), 1);
    let client = world().client([beside("server"), Turn::text("1")]);
    assert_eq!(kinds(&client.respond(json!({}))["output"]).len(), 3);
}

#[test]
fn an_item_may_be_named_by_its_id_alone() {
    let client = world().client([Turn::code("print(6 * 7)"), Turn::text("42"), Turn::text("yes")]);
    let first = client.respond(json!({}));
    let id = first["output"][0]["id"].clone();
    let input = json!([{"id": id}, {"role": "user", "content": "sure?"}]);
    // No other word of the request is ours.
    client.respond(json!({"tools": null, "input": input}));
    let seen = &world().bodies(&client)[2]["input"];
    assert_eq!(kinds(seen), ["function_call", "function_call_output", "message"]);
    let error = client.create(json!({"input": [{"id": "msg_of_nobody"}]}));
    assert!(error.status == 400 || error.status == 404, "{}", error.text());
}

#[test]
fn the_model_gets_everything_an_execution_said() {
    let code = "import sys\nprint('out')\nprint('err', file=sys.stderr)\n\
                open('/mnt/data/new.txt', 'w').write('12345')\n'last'";
    let client = world().client([Turn::code(code), Turn::text("x")]);
    client.respond(json!({}));
    let bodies = world().bodies(&client);
    assert_eq!(told(&bodies[1]), "out\nerr\n'last'\n[files: /mnt/data/new.txt (new, 5 bytes)]");
}

#[test]
fn code_with_carriage_returns_runs_and_is_shown_unchanged() {
    let code = "x = 1\r\nfor n in range(2):\r\n    x += n\r\nprint(x)\r\n";
    let response = world().client([Turn::code(code), Turn::text("2")]).respond(json!({"include": [OUTPUTS]}));
    let call = &response["output"][0];
    assert_eq!((&call["code"], &call["outputs"][0]["logs"]), (&json!(code), &json!("2\n")));
}

#[test]
fn deltas_come_before_the_model_has_finished() {
    let slow = turn(
        json!({"items": [{"code": "a = 1\nb = 2\nc = 3\nd = 4\nprint(a + b)"}], "chunk": 6, "delta_delay_ms": 60}),
    );
    let client = world().client([slow, Turn::text("3")]);
    let mut stream = client.open_stream(json!({}));
    let first = stream.until("response.code_interpreter_call_code.delta");
    let mut code = first["delta"].as_str().unwrap().to_owned();
    loop {
        let event = stream.next().unwrap();
        match event["type"].as_str().unwrap() {
            "response.code_interpreter_call_code.delta" => code.push_str(event["delta"].as_str().unwrap()),
            "response.code_interpreter_call_code.done" => {
                assert_eq!(event["code"], code);
                break;
            }
            _ => {}
        }
    }
    stream.until("response.completed");

    // Whoever leaves after the first piece leaves a model that is still writing: nothing was held back.
    let slow =
        turn(json!({"items": [{"code": "a = 1\nb = 2\nprint(a + b)"}], "chunk": 6, "delta_delay_ms": 2000}));
    let client = world().client([slow]);
    client.open_stream(json!({})).until("response.code_interpreter_call_code.delta");
    wait_until("the model is left in the middle", || world().model.requests(&client.key)[0].hung_up);
}

#[test]
fn odd_cuts_of_the_upstream_change_nothing() {
    let text = "Grüße 😀 \"quoted\" \\ back";
    for bytes in [1, 3, 7] {
        let code = format!("s = {text:?}\nprint(s)");
        let cut = |item: Value| turn(json!({"items": [item], "chunk": 1, "bytes": bytes}));
        let client = world().client([cut(json!({"code": code})), cut(json!({"text": text}))]);
        let events = client.stream(json!({"include": [OUTPUTS]}));
        let response = &events.last().unwrap()["response"];
        assert_eq!(response["output"][0]["code"], code);
        assert_eq!(response["output"][0]["outputs"][0]["logs"], format!("{text}\n"));
        assert_eq!(response["output"][1]["content"][0]["text"], text);
    }
}

#[test]
fn deltas_are_padded_unless_the_client_wants_none() {
    let turns = || [Turn::code("print('hello, hello')"), Turn::text("hello, hello, hello")];
    let padded = |events: &[Value]| {
        let deltas = events.iter().filter(|event| event["delta"].is_string());
        let lengths = deltas.map(|event| {
            let length = |name: &str| event[name].as_str().map(|text| text.chars().count());
            (length("delta").unwrap(), length("obfuscation"))
        });
        lengths.collect::<Vec<_>>()
    };
    for (delta, padding) in padded(&world().client(turns()).stream(json!({}))) {
        assert_eq!((delta + padding.unwrap()) % 16, 0);
        assert!(padding.unwrap() > 0);
    }
    let plain = json!({"stream_options": {"include_obfuscation": false}});
    assert!(padded(&world().client(turns()).stream(plain)).iter().all(|(_, padding)| padding.is_none()));
}

#[test]
fn files_and_images_of_the_input_are_in_the_container() {
    let client = world().client([
        Turn::code(
            "import os\nnames = sorted(os.listdir('/mnt/data'))\nprint([n.split('-')[-1] for n in names])",
        ),
        Turn::text("x"),
    ]);
    let file = client.upload("/v1/files", "table.csv", b"a\n1\n")["id"].clone();
    let png =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let input = json!([{"role": "user", "content": [
        {"type": "input_text", "text": "look"},
        {"type": "input_file", "file_id": file},
        {"type": "input_image", "detail": "auto", "image_url": format!("data:image/png;base64,{png}")},
    ]}]);
    let response = client.respond(json!({"input": input, "include": [OUTPUTS]}));
    assert_eq!(response["output"][0]["outputs"][0]["logs"], "['image.png', 'table.csv']\n");
    let bodies = world().bodies(&client);
    assert!(bodies[0]["tools"][0]["description"].as_str().unwrap().contains("-table.csv"));
    assert!(bodies[0]["input"][0]["content"][1]["text"].as_str().unwrap().contains("-table.csv"));
}

#[test]
fn a_request_without_the_tool_passes_through_untouched() {
    let client = world().client([Turn::text("hello")]);
    let text = r#"{ "model":"m",  "input" : "caf\u00e9", "a_new_field":{"x":[1, 2.50]}, "store":true }"#;
    let answer = client.raw("POST", "/v1/responses", text.as_bytes());
    assert_eq!(answer.ok()["output"][0]["content"][0]["text"], "hello");
    assert_eq!(world().asked(&client)[0].text, text);
}

#[test]
fn code_that_nobody_asked_for_makes_no_container() {
    let client = world().client([Turn::text("no code needed")]);
    client.respond(json!({}));
    assert_eq!(client.get("/v1/containers").ok()["data"], json!([]));
}
