//! The server dies without a warning and is started again: nothing that a client has heard of is gone.

use sandgate_testkit::{Item, Turn};
use serde_json::{Value, json};

use crate::common::{OUTPUTS, World, container_of, items, kinds, told, wait_until};

#[test]
fn everything_a_client_has_heard_of_survives_kill_9() {
    let mut world = World::with("responses", "");
    let client = world.client([
        Turn::of([Item::reasoning(), Item::code("x = 41\nopen('/mnt/data/kept.txt', 'w').write('kept')")]),
        Turn::text("made sandbox:/mnt/data/kept.txt"),
        Turn::text("in a conversation"),
        Turn::code("print(open('/mnt/data/kept.txt').read())\nx"),
        Turn::text("the variable is gone"),
        Turn::code("print(open('/mnt/data/kept.txt').read())"),
        Turn::text("still there"),
    ]);
    let file = client.upload("/v1/files", "data.csv", b"a,b\n");
    let conversation = client.post("/v1/conversations", &json!({"metadata": {"a": "b"}})).ok();
    let conversation_path = format!("/v1/conversations/{}", conversation["id"].as_str().unwrap());
    let first = client.respond(json!({"include": [OUTPUTS], "metadata": {"m": "1"}}));
    client.respond(json!({"conversation": conversation["id"]}));
    let container = container_of(&first);
    let made = client.upload(&format!("/v1/containers/{container}/files"), "up.bin", &[7; 5000]);
    let paths = [
        format!("/v1/responses/{}?include[]={OUTPUTS}", first["id"].as_str().unwrap()),
        format!("/v1/responses/{}/input_items", first["id"].as_str().unwrap()),
        conversation_path.clone(),
        format!("{conversation_path}/items"),
        format!("/v1/files/{}", file["id"].as_str().unwrap()),
        format!("/v1/files/{}/content", file["id"].as_str().unwrap()),
        "/v1/files".to_owned(),
        format!("/v1/containers/{container}/files"),
        format!("/v1/containers/{container}/files/{}", made["id"].as_str().unwrap()),
        format!("/v1/containers/{container}/files/{}/content", made["id"].as_str().unwrap()),
    ];
    let seen = |client: &crate::common::Client| -> Vec<(u16, String)> {
        let answers = paths.iter().map(|path| client.get(path));
        answers.map(|answer| (answer.status, answer.text())).collect()
    };
    let before = seen(&client);
    assert!(before.iter().all(|(status, _)| *status == 200), "{before:?}");

    world.crash_and_restart();
    let client = world.again(&client);
    for (path, (before, after)) in paths.iter().zip(before.iter().zip(seen(&client))) {
        assert_eq!(before, &after, "{path}");
    }
    assert_eq!(client.get(&format!("/v1/containers/{container}")).ok()["id"], container);
    let cited = &items(&first, "message")[0]["content"][0]["annotations"][0];
    let cited = format!("/v1/containers/{container}/files/{}/content", cited["file_id"].as_str().unwrap());
    assert_eq!(client.get(&cited).text(), "kept");

    let second = client.respond(json!({"previous_response_id": first["id"], "include": [OUTPUTS]}));
    assert_eq!(container_of(&second), container);
    assert_eq!(second["output"][0]["outputs"], json!([{"type": "logs", "logs": "kept\n"}]));
    let bodies = world.bodies(&client);
    let last = told(bodies.last().unwrap());
    assert!(last.contains("NameError") && last.contains("[the interpreter is new"), "{last}");

    // And once more.
    world.crash_and_restart();
    let client = world.again(&client);
    let third = client.respond(json!({"previous_response_id": second["id"], "include": [OUTPUTS]}));
    assert_eq!(third["output"][0]["outputs"], json!([{"type": "logs", "logs": "kept\n"}]));
    world.asked(&client);
}

#[test]
fn a_background_response_under_way_has_failed_and_says_so() {
    let mut world = World::with("responses", "");
    let client = world.client([Turn::code("import time; time.sleep(100)"), Turn::text("never said")]);
    let mut stream = client.open_stream(json!({"background": true}));
    let id = stream.until("response.created")["response"]["id"].as_str().unwrap().to_owned();
    stream.until("response.code_interpreter_call.interpreting");
    world.crash_and_restart();
    let client = world.again(&client);
    let path = format!("/v1/responses/{id}");
    let response = client.get(&path).ok();
    assert_eq!((&response["status"], &response["error"]["code"]), (&json!("failed"), &json!("server_error")));
    assert!(response["error"]["message"].as_str().unwrap().contains("stopped"), "{response}");
    assert_eq!(client.post(&format!("{path}/cancel"), &json!({})).ok()["status"], "failed");
    assert_eq!(client.get(&format!("{path}/input_items")).ok()["data"][0]["role"], "user");
    // Whoever listened hears of the end, too.
    let events = client.get(&format!("{path}?stream=true")).events();
    assert_eq!(kinds(&events).last(), Some(&"response.failed"), "{events:?}");
    assert_eq!(events.last().unwrap()["response"]["error"], response["error"]);
    assert_eq!(world.asked(&client).len(), 1);
}

#[test]
fn a_response_under_way_leaves_nothing_half_done() {
    let mut world = World::with("responses", "");
    let client = world.client([
        Turn::code("open('/mnt/data/a', 'w').write('a')"),
        Turn::text("ok"),
        Turn::code("open('/mnt/data/b', 'w').write('b'); import time; time.sleep(100)"),
        Turn::code("import os; sorted(os.listdir('/mnt/data'))"),
        Turn::text("both"),
    ]);
    let conversation = client.post("/v1/conversations", &json!({})).ok()["id"].clone();
    let first = client.respond(json!({"conversation": conversation}));
    let mut stream = client.open_stream(json!({"conversation": conversation}));
    stream.until("response.code_interpreter_call.interpreting");
    let files = format!("/v1/containers/{}/files", container_of(&first));
    wait_until("the file is there", || client.get(&files).ok()["data"].as_array().unwrap().len() == 2);
    world.crash_and_restart();
    let client = world.again(&client);
    let second = client.respond(json!({"conversation": conversation, "include": [OUTPUTS]}));
    assert_eq!(container_of(&first), container_of(&second));
    assert_eq!(second["output"][0]["outputs"][0]["logs"], "['a', 'b']");
    let path = format!("/v1/conversations/{}/items?order=asc", conversation.as_str().unwrap());
    let listed = client.get(&path).ok();
    let kinds: Vec<&Value> = listed["data"].as_array().unwrap().iter().map(|item| &item["type"]).collect();
    let one = ["message", "code_interpreter_call", "message"];
    assert_eq!(kinds, [one, one].concat());
    world.asked(&client);
}
