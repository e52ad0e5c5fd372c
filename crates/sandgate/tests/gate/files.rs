//! Files that were uploaded here, in requests without the code tool: only this server knows them, so the
//! model gets what is in them.

use std::sync::LazyLock;

use sandgate_testkit::Turn;
use serde_json::{Value, json};

use crate::common::{World, world};

/// A server before an upstream that has Chat Completions only.
static CHAT: LazyLock<World> = LazyLock::new(|| World::for_good("chat"));

const DATA: &str = "data:text/csv;base64,YSxiCjEsMgo=";

fn uploaded(client: &crate::common::Client) -> Value {
    client.upload("/v1/files", "table.csv", b"a,b\n1,2\n")["id"].clone()
}

fn message(file: &Value) -> Value {
    json!([{"role": "user", "content": [
        {"type": "input_text", "text": "what is in it?"}, {"type": "input_file", "file_id": file}]}])
}

#[test]
fn a_file_in_a_message_reaches_the_model() {
    let client = world().client([Turn::text("a table"), Turn::text("still a table")]);
    let file = uploaded(&client);
    let first = client.respond(json!({"tools": null, "input": message(&file)}));
    let expected = json!({"type": "input_file", "filename": "table.csv", "file_data": DATA});
    assert_eq!(world().bodies(&client)[0]["input"][0]["content"][1], expected);
    // It is there when the conversation goes on, and the client's own words are what was kept of it.
    client.respond(json!({"tools": null, "previous_response_id": first["id"]}));
    assert_eq!(world().bodies(&client)[1]["input"][0]["content"][1], expected);
    let kept = client.get(&format!("/v1/responses/{}/input_items", first["id"].as_str().unwrap())).ok();
    assert_eq!(kept["data"][0]["content"][1]["file_id"], file);
}

#[test]
fn before_a_chat_upstream_it_is_written_as_chat_has_it() {
    let client = CHAT.client([Turn::text("a table")]);
    let file = uploaded(&client);
    client.respond(json!({"tools": null, "input": message(&file)}));
    let part = &CHAT.bodies(&client)[0]["messages"][0]["content"][1];
    assert_eq!(*part, json!({"type": "file", "file": {"filename": "table.csv", "file_data": DATA}}));
}

#[test]
fn chat_completions_that_are_passed_on_have_the_file_in_them() {
    for world in [world(), &*CHAT] {
        let client = world.client(vec![Turn::text("a table"); 2]);
        let file = uploaded(&client);
        let content = |id: &Value| {
            json!([{"role": "user", "content": [
                {"type": "text", "text": "what is in it?"}, {"type": "file", "file": {"file_id": id}}]}])
        };
        client.complete(json!({"tools": null, "messages": content(&file), "seed": 7}));
        let body = &world.bodies(&client)[0];
        let part = &body["messages"][0]["content"][1];
        assert_eq!(*part, json!({"type": "file", "file": {"filename": "table.csv", "file_data": DATA}}));
        assert_eq!(body["seed"], 7);
        // One that only the upstream knows is its own business.
        let others = content(&json!("file-of-the-upstream"));
        client.complete(json!({"tools": null, "messages": others}));
        assert_eq!(world.bodies(&client)[1]["messages"], others);
        // A stranger's is no file of the asker's.
        let stranger = client.stranger();
        world.model.script(&stranger.key, [Turn::text("no")]);
        stranger.complete(json!({"tools": null, "messages": content(&file)}));
        assert_eq!(world.bodies(&stranger)[0]["messages"], content(&file));
    }
}

#[test]
fn a_file_that_a_function_gave_reaches_the_model() {
    let tools = json!([{"type": "function", "name": "fetch", "strict": false,
        "parameters": {"type": "object", "properties": {}}}]);
    let mut turn = Turn::text("a table and a picture");
    turn.foreign = true;
    let client = world().client([turn]);
    let (file, png) = (uploaded(&client), client.upload("/v1/files", "i.png", b"\x89PNG")["id"].clone());
    let output = json!([{"type": "input_file", "file_id": file},
        {"type": "input_image", "file_id": png, "detail": "auto"}]);
    let input = json!([
        {"role": "user", "content": "fetch"},
        {"type": "function_call", "call_id": "call_1", "name": "fetch", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": output},
    ]);
    client.respond(json!({"tools": tools, "input": input}));
    let seen = world().bodies(&client)[0]["input"][2]["output"].clone();
    assert_eq!(seen[0]["file_data"], DATA);
    assert_eq!(seen[1]["image_url"], "data:image/png;base64,iVBORw==");
}

#[test]
fn a_file_too_large_for_a_message_is_refused_before_anybody_is_asked() {
    let client = world().client([]);
    let large = vec![b'x'; (50 << 20) + 1];
    let file = client.upload("/v1/files", "large.txt", &large)["id"].clone();
    let error = client.post("/v1/responses", &json!({"model": "m", "input": message(&file)})).refused(400);
    assert!(error["message"].as_str().unwrap().contains("50 MiB"), "{error}");
    assert_eq!(error["code"], "file_too_large");
    let chat = json!([{"role": "user", "content": [{"type": "file", "file": {"file_id": file}}]}]);
    client.chat(json!({"tools": null, "messages": chat})).refused(400);
    assert!(world().asked(&client).is_empty());
}

#[test]
fn the_model_is_told_of_files_that_code_will_not_find() {
    let said = |body: &Value| {
        let tool = &body["tools"][0];
        let description = tool["description"].as_str().or(tool["function"]["description"].as_str()).unwrap();
        description.contains("by a URL are not in the environment")
    };
    let client = world().client(vec![Turn::text("ok"); 4]);
    let with = |part: Value| json!({"input": [{"role": "user", "content": [part]}]});
    let address = "https://files.example/a";
    client.respond(with(json!({"type": "input_image", "detail": "auto", "image_url": address})));
    client.respond(with(json!({"type": "input_file", "file_url": address})));
    let image = json!([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": address}}]}]);
    client.complete(json!({"messages": image}));
    client.respond(with(json!({"type": "input_text", "text": address})));
    assert_eq!(world().bodies(&client).iter().map(said).collect::<Vec<_>>(), [true, true, true, false]);
}
