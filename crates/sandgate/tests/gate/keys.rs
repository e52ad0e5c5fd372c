//! Keys through the running server: who is let in, what belongs to whom, and that no key goes anywhere.

use std::thread;
use std::time::Duration;

use sandgate_testkit::Turn;
use serde_json::{Value, json};

use crate::common::{Answer, Client, Keyed, MASTER, UPSTREAM, container_of};

fn says(answer: &Answer, status: u16, words: &str) -> Value {
    let error = answer.refused(status);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(words), "{message}");
    error
}

/// Every way in, once.
fn asks(client: &Client) -> Vec<Answer> {
    let code = json!({"code": "print(1)"});
    let response = json!({"model": "gpt-test", "input": "go"});
    vec![
        client.post("/v1/execute", &code),
        client.create(json!({})),
        client.create_stream(json!({})),
        client.post("/v1/responses", &response),
        client.post("/v1/chat/completions", &json!({"model": "gpt-test", "messages": []})),
        client.post("/v1/embeddings", &response),
        client.get("/v1/responses/resp_1"),
        client.get("/v1/models"),
        client.get("/v1/containers"),
        client.post("/v1/containers", &json!({"name": "a"})),
        client.get("/v1/containers/cntr_1/files"),
        client.try_upload("/v1/files", "a", b"a"),
        client.post("/v1/conversations", &json!({})),
        client.get("/v1/admin/keys"),
        client.get("/nowhere"),
    ]
}

#[test]
fn only_valid_keys_are_let_in() {
    let world = Keyed::start("responses");
    assert_eq!(world.with_key("").get("/health").status, 200);
    for answer in asks(&world.with_key("")) {
        assert_eq!(says(&answer, 401, "You didn't provide an API key.")["code"], Value::Null);
    }
    let wrong = "sg-wrongwrongwrongwrong";
    for answer in asks(&world.with_key(wrong)) {
        let error = says(&answer, 401, "Incorrect API key provided: sg-wr***.");
        assert_eq!(
            (&error["type"], &error["code"]),
            (&json!("invalid_request_error"), &json!("invalid_api_key"))
        );
    }
    let (short, ending) = world.make(json!({"expires_in_seconds": 1}));
    let (made, client) = world.make(json!({}));
    client.get("/v1/containers").ok();
    client.get("/v1/admin/keys").refused(403);
    let path = format!("/v1/admin/keys/{}", made["id"].as_str().unwrap());
    world.master().delete(&path).ok();
    for answer in asks(&client) {
        says(&answer, 401, "Incorrect API key provided: sg-");
        assert!(!answer.text().contains(&client.key));
    }
    thread::sleep(Duration::from_millis(2100));
    says(&ending.get("/v1/containers"), 401, "has expired");
    assert!(world.heard().is_empty());
    let log = world.log();
    for secret in [MASTER, UPSTREAM, wrong, &client.key, short["key"].as_str().unwrap()] {
        assert!(!log.contains(secret), "a secret in the log: {log}");
    }
}

#[test]
fn two_keys_with_the_same_names_share_nothing() {
    let world = Keyed::start("responses");
    let ((_, ann), (_, bob)) = (world.make(json!({})), world.make(json!({})));
    let name = json!({"name": "session-1"});
    let of = |client: &Client| client.post("/v1/containers", &name).ok()["id"].as_str().unwrap().to_owned();
    let (anns, bobs) = (of(&ann), of(&bob));
    let run = |client: &Client, container: &str, code: &str| {
        client.post("/v1/execute", &json!({"code": code, "container": container}))
    };
    run(&ann, &anns, "secret = 'ann'; open('secret.txt', 'w').write(secret)").ok();
    let look = "import os; print('secret' in globals(), os.path.exists('secret.txt'))";
    assert_eq!(run(&bob, &bobs, look).ok()["stdout"], "False False\n");
    run(&bob, &anns, look).refused(404);
    assert_eq!(bob.get("/v1/containers?name=session-1").ok()["data"][0]["id"], *bobs);

    // What ann makes by responses, conversations and files is not there for bob either.
    world.script([Turn::code("secret = 1"), Turn::text("done")]);
    let response = ann.respond(json!({}));
    let id = response["id"].as_str().unwrap();
    let file = ann.upload("/v1/files", "a.txt", b"ann's")["id"].as_str().unwrap().to_owned();
    let conversation = ann.post("/v1/conversations", &json!({})).ok()["id"].as_str().unwrap().to_owned();
    let auto = container_of(&response);
    for target in [
        format!("/v1/responses/{id}"),
        format!("/v1/responses/{id}/input_items"),
        format!("/v1/files/{file}"),
        format!("/v1/files/{file}/content"),
        format!("/v1/conversations/{conversation}"),
        format!("/v1/conversations/{conversation}/items"),
        format!("/v1/containers/{anns}"),
        format!("/v1/containers/{auto}/files"),
    ] {
        assert_eq!(ann.get(&target).status, 200, "{target}");
        bob.get(&target).refused(404);
        world.master().get(&target).refused(404);
    }
    for target in
        [format!("/v1/responses/{id}"), format!("/v1/files/{file}"), format!("/v1/containers/{anns}")]
    {
        bob.delete(&target).refused(404);
    }
    let heard = world.heard().len();
    bob.create(json!({"previous_response_id": id})).refused(400);
    bob.create(json!({"conversation": conversation})).refused(404);
    bob.create(json!({"tools": [{"type": "code_interpreter", "container": anns}]})).refused(404);
    assert_eq!(world.heard().len(), heard, "nobody was asked about what is another's");
    assert_eq!(bob.get("/v1/files").ok()["data"], json!([]));
}

#[test]
fn keys_of_one_owner_share_and_rotate() {
    let world = Keyed::start("responses");
    let (old, first) = world.make(json!({}));
    let container =
        first.post("/v1/containers", &json!({"name": "kept"})).ok()["id"].as_str().unwrap().to_owned();
    let (_, second) = world.make(json!({"owner": old["owner"]}));
    world.master().delete(&format!("/v1/admin/keys/{}", old["id"].as_str().unwrap())).ok();
    first.get("/v1/containers").refused(401);
    assert_eq!(second.get("/v1/containers").ok()["data"][0]["id"], *container);
}

/// Passed on or through the gate, whole or streamed: the operator's key and nothing of the client's.
#[test]
fn the_upstream_never_sees_the_key_of_a_client() {
    let world = Keyed::start("responses");
    let (_, client) = world.make(json!({}));
    let run = || [Turn::code("print(6*7)"), Turn::text("42")];
    world.script(run().into_iter().chain(run()).chain([Turn::text("plain"), Turn::text("plain")]));
    client.respond(json!({}));
    let events = client.stream(json!({}));
    assert_eq!(events.last().unwrap()["type"], "response.completed");
    let plain = json!({"model": "gpt-test", "input": "hello"});
    client.post("/v1/responses", &plain).ok();
    client.post("/v1/responses", &json!({"model": "gpt-test", "input": "hello", "stream": true})).events();
    client.get("/v1/models").ok();
    let heard = world.heard();
    assert!(heard.len() >= 6, "{}", heard.len());
    for request in &heard {
        assert_eq!(request.headers["authorization"], format!("Bearer {UPSTREAM}"));
        let everything = format!("{request:?}");
        assert!(!everything.contains(&client.key) && !everything.contains(MASTER), "{everything}");
    }
    assert!(world.model.requests(&client.key).is_empty());
    let log = world.log();
    for secret in [MASTER, UPSTREAM, &client.key] {
        assert!(!log.contains(secret), "a secret in the log: {log}");
    }
}

/// The upstream keeps what was passed on, for all keys in one account; here it is known whose each is.
#[test]
fn a_passed_response_is_its_makers() {
    let world = Keyed::start("responses");
    let ((_, ann), (_, bob)) = (world.make(json!({})), world.make(json!({})));
    let plain = |more: Value| {
        let mut fields = json!({"model": "gpt-test", "input": "hello"});
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fields
    };
    for stream in [false, true] {
        world.script(vec![Turn::text("plain"); 3]);
        let answer = ann.post("/v1/responses", &plain(json!({"stream": stream})));
        let id =
            if stream { answer.events()[0]["response"]["id"].clone() } else { answer.ok()["id"].clone() };
        let heard = world.heard().len();
        bob.get(&format!("/v1/responses/{}", id.as_str().unwrap())).refused(404);
        let error = bob.post("/v1/responses", &plain(json!({"previous_response_id": id}))).refused(400);
        assert_eq!(error["code"], "previous_response_not_found");
        bob.create(json!({"previous_response_id": id})).refused(400);
        assert_eq!(world.heard().len(), heard);
        ann.post("/v1/responses", &plain(json!({"previous_response_id": id})));
        ann.get(&format!("/v1/responses/{}", id.as_str().unwrap()));
        assert!(world.heard().len() > heard, "its maker's question is passed on");
    }
}
