//! Code on Chat Completions: the answer is a plain completion, and what ran is told beside it. In front of
//! both kinds of upstream.

use std::sync::LazyLock;

use sandgate_testkit::{Item, Turn};
use serde_json::{Value, json};

use crate::common::{World, accumulated, turn, world};

/// A server before an upstream that has Chat Completions only.
static CHAT: LazyLock<World> = LazyLock::new(|| World::for_good("chat"));

fn both() -> [&'static World; 2] {
    [world(), &CHAT]
}

fn weather() -> Value {
    json!({"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}})
}

fn tools_with_weather() -> Value {
    json!([{"type": "code_interpreter", "container": {"type": "auto"}}, weather()])
}

fn message(completion: &Value) -> &Value {
    &completion["choices"][0]["message"]
}

fn two_rounds() -> [Turn; 3] {
    [
        Turn::of([Item::text("Let me see."), Item::code("x = 6\nprint('six')")]),
        Turn::code("x * 7"),
        Turn::text("It is 42."),
    ]
}

#[test]
fn code_runs_and_the_model_answers() {
    for world in both() {
        let client = world.client(two_rounds());
        let answer = client.chat(json!({}));
        answer.leaks_nothing();
        let whole = answer.ok();
        assert_eq!(whole["object"], "chat.completion");
        assert!(whole["id"].as_str().unwrap().starts_with("chatcmpl-"));
        assert_eq!(whole["choices"][0]["finish_reason"], "stop");
        assert_eq!(message(&whole)["content"], "Let me see.\n\nIt is 42.");
        let ran = &message(&whole)["code_interpreter"];
        assert!(ran["container_id"].as_str().unwrap().starts_with("cntr_"));
        let calls = ran["calls"].as_array().unwrap();
        assert_eq!(
            calls.iter().map(|call| &call["code"]).collect::<Vec<_>>(),
            ["x = 6\nprint('six')", "x * 7"]
        );
        assert_eq!(calls[0]["outputs"], json!([{"type": "logs", "logs": "six\n"}]));
        assert_eq!(calls[1]["outputs"], json!([{"type": "logs", "logs": "42"}]));
        assert!(
            calls
                .iter()
                .all(|call| call["status"] == "completed" && call["id"].as_str().unwrap().starts_with("ci_"))
        );
        // Three turns of 100 and 20.
        let usage = &whole["usage"];
        let counts =
            ["prompt_tokens", "completion_tokens", "total_tokens"].map(|name| usage[name].as_u64().unwrap());
        assert_eq!(counts, [300, 60, 360]);
        assert_eq!(world.asked(&client).len(), 3);
        assert!(world.asked(&client).iter().all(|asked| asked.path == "/v1/chat/completions"));
    }
}

#[test]
fn streamed_it_is_the_same() {
    for world in both() {
        let client = world.client(two_rounds().into_iter().chain(two_rounds()));
        let whole = client.complete(json!({}));
        let answer = client.chat_stream(json!({"stream_options": {"include_usage": true}}));
        answer.leaks_nothing();
        let chunks = answer.chunks();
        let mut message = accumulated(&chunks);
        assert_eq!(message["content"], self::message(&whole)["content"]);
        assert_eq!(message["role"], "assistant");
        let mut expected = self::message(&whole)["code_interpreter"].clone();
        for ran in [&mut message["code_interpreter"], &mut expected] {
            ran["container_id"] = json!("the same");
            for call in ran["calls"].as_array_mut().unwrap() {
                call["id"] = json!("the same");
                call.as_object_mut().unwrap().shift_remove("index");
            }
        }
        message["code_interpreter"]["files"] = json!([]);
        assert_eq!(message["code_interpreter"], expected);
        let [.., last, counts] = &chunks[..] else { panic!("{chunks:?}") };
        assert_eq!(last["choices"], json!([{"index": 0, "delta": {}, "finish_reason": "stop"}]));
        assert_eq!((&counts["choices"], &counts["usage"]["total_tokens"]), (&json!([]), &json!(360)));
        assert!(
            chunks[..chunks.len() - 1]
                .iter()
                .all(|chunk| chunk["usage"].is_null() && chunk.get("usage").is_some())
        );
    }
}

#[test]
fn without_the_option_no_counts_are_sent() {
    let client = world().client(two_rounds());
    let chunks = client.chunks(json!({}));
    assert!(chunks.iter().all(|chunk| chunk.get("usage").is_none() && chunk["choices"] != json!([])));
    // We have to know them all the same.
    assert!(world().bodies(&client).iter().all(|body| body["stream_options"]["include_usage"] == true));
}

#[test]
fn the_model_sees_its_own_words_and_what_came_of_its_code() {
    for stream in [false, true] {
        let thinking = turn(json!({"items": [{"reasoning": "hm"}, {"text": "Look:"}, {"code": "print(1)"},
            {"arguments": "{\"code\": 5}"}]}));
        let client = world().client([thinking, Turn::text("1")]);
        let fields = json!({"temperature": 0.5, "seed": 7, "metadata": {"a": "b"}, "store": true, "stream": stream,
            "user": "u", "response_format": {"type": "text"}, "parallel_tool_calls": true});
        client.chat(fields.clone());
        let bodies = world().bodies(&client);
        for body in &bodies {
            for (name, value) in fields.as_object().unwrap().iter().filter(|(name, _)| *name != "stream") {
                assert_eq!(&body[name], value, "{name}");
            }
            assert_eq!(body["tools"][0]["function"]["name"], "python");
        }
        let messages = bodies[1]["messages"].as_array().unwrap();
        assert_eq!(messages.len(), 4);
        let said = &messages[1];
        assert_eq!((&said["content"], &said["reasoning_content"]), (&json!("Look:"), &json!("hm")));
        assert_eq!(said["tool_calls"][0]["function"]["arguments"], json!({"code": "print(1)"}).to_string());
        assert_eq!(said["tool_calls"][1]["function"]["arguments"], "{\"code\": 5}");
        assert_eq!(messages[2]["content"], "1");
        assert!(messages[3]["content"].as_str().unwrap().contains("not run"), "{}", messages[3]);
    }
}

#[test]
fn calls_in_one_turn_run_in_their_order() {
    let many = Turn::of([Item::code("x = 1"), Item::code("x += 1\nx"), Item::code("1/0")]);
    let client = world().client([many.clone(), Turn::text("2"), many, Turn::text("2")]);
    let whole = client.complete(json!({}));
    let outputs = |message: &Value| {
        let calls = message["code_interpreter"]["calls"].as_array().unwrap();
        calls.iter().map(|call| call["outputs"].clone()).collect::<Vec<_>>()
    };
    let expected = vec![json!([]), json!([{"type": "logs", "logs": "2"}]), json!([])];
    assert_eq!(outputs(message(&whole)), expected);
    assert_eq!(outputs(&accumulated(&client.chunks(json!({})))), expected);
    let told = &world().bodies(&client)[1]["messages"][4]["content"];
    assert!(told.as_str().unwrap().contains("ZeroDivisionError"), "{told}");
}

#[test]
fn a_function_of_the_client_beside_code_ends_the_answer() {
    for world in both() {
        let called = Turn::of([Item::code("y = 5\ny"), Item::call("weather", r#"{"city": "Bern"}"#)]);
        let client = world.client([called.clone(), called, Turn::text("5, sun")]);
        let whole = client.complete(json!({"tools": tools_with_weather()}));
        assert_eq!(whole["choices"][0]["finish_reason"], "tool_calls");
        let calls = message(&whole)["tool_calls"].as_array().unwrap();
        assert_eq!(calls.len(), 1);
        assert_eq!(calls[0]["function"], json!({"name": "weather", "arguments": r#"{"city": "Bern"}"#}));
        assert_eq!(message(&whole)["code_interpreter"]["calls"][0]["outputs"][0]["logs"], "5");

        let answer = client.chat_stream(json!({"tools": tools_with_weather()}));
        assert!(!answer.text().contains("\"python\""));
        let chunks = answer.chunks();
        assert_eq!(chunks.last().unwrap()["choices"][0]["finish_reason"], "tool_calls");
        let streamed = accumulated(&chunks);
        assert_eq!(streamed["tool_calls"][0]["index"], 0);
        assert_eq!(streamed["tool_calls"][0]["function"], calls[0]["function"]);
        assert_eq!(streamed["code_interpreter"]["calls"][0]["outputs"][0]["logs"], "5");

        // The message sent back as it is: the model gets its code and what came of it back too.
        let id = &streamed["tool_calls"][0]["id"];
        let messages = json!([{"role": "user", "content": "go"}, streamed,
            {"role": "tool", "tool_call_id": id, "content": "sun"}]);
        let last = client.complete(json!({"messages": messages, "tools": tools_with_weather()}));
        assert_eq!(message(&last)["content"], "5, sun");
        let body = world.bodies(&client).pop().unwrap();
        let roles: Vec<&Value> =
            body["messages"].as_array().unwrap().iter().map(|message| &message["role"]).collect();
        assert_eq!(roles, ["user", "assistant", "tool", "assistant", "tool"]);
        assert_eq!(body["messages"][2]["content"], "5");
        assert!(!body.to_string().contains("code_interpreter"));
    }
}

#[test]
fn a_choice_that_forces_code_is_relaxed_after_it() {
    let named = json!({"type": "function", "function": {"name": "python"}});
    let allowed = |mode: &str, tools: Value| json!({"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}});
    for (choice, first, later) in [
        (json!({"type": "code_interpreter"}), named.clone(), json!("auto")),
        (json!("required"), json!("required"), json!("auto")),
        (json!("auto"), json!("auto"), json!("auto")),
        (
            allowed("required", json!([{"type": "code_interpreter"}])),
            allowed("required", json!([named])),
            allowed("auto", json!([named])),
        ),
    ] {
        let client = world().client([Turn::code("1"), Turn::text("1")]);
        client.complete(json!({"tool_choice": choice, "tools": tools_with_weather()}));
        let bodies = world().bodies(&client);
        assert_eq!((&bodies[0]["tool_choice"], &bodies[1]["tool_choice"]), (&first, &later));
    }
}

#[test]
fn the_container_can_be_gone_on_with() {
    let client = world().client([
        Turn::code("x = 41"),
        Turn::text("ok"),
        Turn::code("x + 1"),
        Turn::text("42"),
        Turn::code("x + 2"),
        Turn::text("43"),
    ]);
    let first = client.complete(json!({}));
    let id = message(&first)["code_interpreter"]["container_id"].clone();
    let second = client.complete(json!({"tools": [{"type": "code_interpreter", "container": id}]}));
    assert_eq!(message(&second)["code_interpreter"]["calls"][0]["outputs"][0]["logs"], "42");
    // Or the conversation says it.
    let messages =
        json!([{"role": "user", "content": "go"}, message(&first), {"role": "user", "content": "again"}]);
    let third = client.complete(json!({"messages": messages}));
    assert_eq!(message(&third)["code_interpreter"]["calls"][0]["outputs"][0]["logs"], "43");
    assert_eq!(message(&third)["code_interpreter"]["container_id"], id);
    client.stranger().chat(json!({"tools": [{"type": "code_interpreter", "container": id}]})).refused(404);
}

#[test]
fn figures_and_files_can_be_fetched() {
    let code = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\nopen('/mnt/data/t.csv', 'w').write('a')\n\
                open('/mnt/data/gone', 'w').close()";
    let turns = || {
        [
            Turn::code(code),
            Turn::code("import os\nos.remove('/mnt/data/gone')"),
            Turn::text("[t](sandbox:/mnt/data/t.csv)"),
        ]
    };
    let client = world().client(turns().into_iter().chain(turns()));
    let whole = client.complete(json!({}));
    let streamed = accumulated(&client.chunks(json!({})));
    for message in [message(&whole), &streamed] {
        let ran = &message["code_interpreter"];
        let outputs = ran["calls"][0]["outputs"].as_array().unwrap();
        assert!(outputs.iter().any(|output| output["type"] == "image"
            && output["url"].as_str().unwrap().starts_with("data:image/png;")));
        let files = ran["files"].as_array().unwrap();
        assert_eq!(files.len(), 2, "{files:?}");
        let table = files.iter().find(|file| file["filename"] == "t.csv").unwrap();
        assert_eq!(
            (&table["path"], &table["container_id"]),
            (&json!("/mnt/data/t.csv"), &ran["container_id"])
        );
        for file in files {
            let (container, id) = (file["container_id"].as_str().unwrap(), file["file_id"].as_str().unwrap());
            let content = client.get(&format!("/v1/containers/{container}/files/{id}/content"));
            assert_eq!(content.status, 200);
            assert_eq!(content.body.starts_with(b"\x89PNG"), file["filename"] != "t.csv");
        }
    }
}

#[test]
fn files_in_messages_are_in_the_container() {
    let client = world().client([
        Turn::code("import os\nprint(sorted(n.split('-')[-1] for n in os.listdir()))"),
        Turn::text("x"),
    ]);
    let file = client.upload("/v1/files", "table.csv", b"a\n1\n")["id"].clone();
    let inline =
        json!({"type": "file", "file": {"filename": "b.txt", "file_data": "data:text/plain;base64,Yg=="}});
    let messages =
        json!([{"role": "user", "content": [{"type": "file", "file": {"file_id": file}}, inline]}]);
    let whole = client.complete(json!({"messages": messages}));
    assert_eq!(
        message(&whole)["code_interpreter"]["calls"][0]["outputs"][0]["logs"],
        "['b.txt', 'table.csv']\n"
    );
    let body = &world().bodies(&client)[0];
    assert!(body["messages"][0]["content"][0]["text"].as_str().unwrap().contains("table.csv"));
    assert_eq!(body["messages"][0]["content"][1], inline);
}

#[test]
fn words_come_while_the_model_is_still_speaking() {
    let slow = turn(
        json!({"items": [{"text": "one two three"}, {"code": "a = 1\nb = 2\nprint(a + b)"}], "chunk": 4, "delta_delay_ms": 60}),
    );
    let client = world().client([slow, Turn::text("3")]);
    let mut stream = client.open_chat(json!({}));
    stream.until("content");
    stream.until("code_interpreter");
    assert_eq!(world().asked(&client).len(), 1);
    drop(stream);
}

#[test]
fn odd_cuts_of_the_upstream_change_nothing() {
    let text = "Grüße 😀 \"quoted\" \\ back";
    for bytes in [1, 5] {
        let cut = |item: Value| turn(json!({"items": [item], "chunk": 1, "bytes": bytes}));
        let code = format!("s = {text:?}\nprint(s)");
        let client = world().client([cut(json!({"code": code})), cut(json!({"text": text}))]);
        let message = accumulated(&client.chunks(json!({})));
        assert_eq!(message["content"], text);
        assert_eq!(message["code_interpreter"]["calls"][0]["code"], code);
        assert_eq!(message["code_interpreter"]["calls"][0]["outputs"][0]["logs"], format!("{text}\n"));
    }
}

#[test]
fn a_request_without_the_tool_passes_through_untouched() {
    for world in both() {
        let client = world.client(vec![Turn::text("hello"); 3]);
        let text = r#"{ "model":"m",  "messages" : [{"role":"user","content":"caf\u00e9"}], "n":1, "a_new":{"x":[1, 2.50]} }"#;
        let answer = client.raw("POST", "/v1/chat/completions", text.as_bytes());
        assert_eq!(message(&answer.ok())["content"], "hello");
        assert_eq!(world.asked(&client)[0].text, text);
        // The word alone means nothing.
        let text = r#"{"model":"m", "messages":[{"role":"user","content":"what is code_interpreter?"}]}"#;
        client.raw("POST", "/v1/chat/completions", text.as_bytes()).ok();
        assert_eq!(world.asked(&client)[1].text, text);
        // Our own field in an earlier answer is taken out.
        let said = json!({"role": "assistant", "content": "1", "code_interpreter": {"calls": []}});
        client.chat(json!({"tools": null, "messages": [said, {"role": "user", "content": "x"}]})).ok();
        assert_eq!(world.bodies(&client)[2]["messages"][0], json!({"role": "assistant", "content": "1"}));
    }
}

#[test]
fn other_paths_are_passed_on_too() {
    for world in both() {
        let client =
            world.client([turn(json!({"path": "/v1/embeddings", "http": {"body": {"object": "list"}}}))]);
        let text = r#"{ "model":"m", "input":"x" }"#;
        let answer = client.raw("POST", "/v1/embeddings?a=b", text.as_bytes());
        assert_eq!(answer.ok(), json!({"object": "list"}));
        assert_eq!(world.asked(&client)[0].text, text);
        client.raw("POST", "/v1/fine_tuning/jobs", b"{}").refused(404);
        client.get("/v1/chat/completions").refused(405);
        assert_eq!(world.model.requests(&client.key).len(), 1);
    }
}
