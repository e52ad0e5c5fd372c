//! The webhook before code runs, with a real one: only a clear yes lets code run.

use std::net::TcpListener;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, Mac};
use sandgate_testkit::Turn;
use serde_json::{Value, json};
use sha2::Sha256;

use crate::common::{Client, Hook, Keyed, Reply, items, told, wait_until};

const SECRET: &[u8] = b"a secret of a hook";

/// `hook` and `more`: further keys of the webhook, and of approvals.
fn keyed(url: &str, hook: &str, more: &str) -> Keyed {
    let secret = BASE64_STANDARD.encode(SECRET);
    let hook = format!("{{url: '{url}', secret: 'whsec_{secret}', {hook}}}");
    Keyed::with("responses", &format!("approvals:\n  webhook: {hook}\n{more}"))
}

fn marks(number: usize) -> String {
    format!("import json\nopen('mark-{number}.txt', 'w').write('ran')")
}

fn there(client: &Client, container: &str) -> Vec<String> {
    let files = client.get(&format!("/v1/containers/{container}/files")).ok();
    let files = files["data"].as_array().unwrap();
    let name = |file: &Value| file["path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    files.iter().map(name).collect()
}

#[test]
fn only_a_clear_yes_lets_code_run() {
    let (hook, other) = (Hook::start(), Hook::start());
    other.reply(Reply::json(&json!({"decision": "approve"})));
    let world = keyed(&format!("http://{}/ask?x=1", hook.address), "timeout_seconds: 3", "");
    let (made, client) = world.make(json!({"name": "ann"}));
    let place = client.post("/v1/containers", &json!({"name": "scratch"})).ok()["id"].clone();
    let place = place.as_str().unwrap();
    let approve = json!({"decision": "approve"}).to_string();
    let elsewhere = format!("location: http://{}/\r\n", other.address);
    let replies = [
        (Reply::json(&json!({"decision": "approve", "reason": "fine"})), None),
        (Reply::json(&json!({"decision": "deny", "reason": "not today"})), Some("not today")),
        (Reply::json(&json!({"decision": "deny"})), Some("the approval hook denied it")),
        (Reply::json(&json!({"decision": "yes"})), Some("the approval hook gave no usable answer")),
        (Reply::json(&json!([])), Some("the approval hook gave no usable answer")),
        (
            Reply::Bytes("200 OK", String::new(), "yes".to_owned()),
            Some("the approval hook gave no usable answer"),
        ),
        (Reply::Bytes("500 Oops", String::new(), approve.clone()), Some("the approval hook failed")),
        (
            Reply::Bytes("307 Temporary Redirect", elsewhere, approve.clone()),
            Some("the approval hook failed"),
        ),
        (Reply::Silence, Some("the approval hook did not answer in time")),
        (
            Reply::Bytes(
                "200 OK",
                String::new(),
                approve.replace('}', &format!(",\"reason\":\"{}\"}}", "x".repeat(100_000))),
            ),
            Some("the approval hook gave no usable answer"),
        ),
    ];
    for (number, (reply, denied)) in replies.into_iter().enumerate() {
        hook.reply(reply.clone());
        world.script([Turn::code(marks(number)), Turn::text("I see")]);
        let tools = json!([{"type": "code_interpreter", "container": place}]);
        let response = client.respond(json!({"tools": tools}));
        let call = items(&response, "code_interpreter_call")[0];
        let mark = format!("mark-{number}.txt");
        match denied {
            None => {
                assert_eq!(call["status"], "completed", "{reply:?}");
                assert!(there(&client, place).contains(&mark));
            }
            Some(reason) => {
                assert_eq!(call["status"], "failed", "{reply:?}");
                let heard = world.heard();
                assert_eq!(told(&heard.last().unwrap().body), format!("[the code was not run: {reason}]"));
                assert!(!there(&client, place).contains(&mark), "{reply:?}");
            }
        }
        let asked = hook.take_asked();
        let [asked] = asked.as_slice() else { panic!("asked {} times for {reply:?}", asked.len()) };
        let body = asked.json();
        assert_eq!((&body["code"], &body["imports"]), (&json!(marks(number)), &json!(["json"])));
        assert_eq!(body["key"], json!({"id": made["id"], "name": "ann", "owner": made["owner"]}));
        assert_eq!(body["container"], json!({"id": place, "name": "scratch"}));
        assert_eq!((&body["language"], &body["model"]), (&json!("python"), &json!("gpt-test")));
        assert!(body["request_id"].is_string() && body["created_at"].is_u64(), "{body}");
        // As whoever checks it would.
        let (id, time) = (asked.header("webhook-id"), asked.header("webhook-timestamp"));
        let mut mac = Hmac::<Sha256>::new_from_slice(SECRET).unwrap();
        mac.update(format!("{id}.{time}.").as_bytes());
        mac.update(&asked.body);
        let signature = asked.header("webhook-signature").strip_prefix("v1,").unwrap();
        mac.verify_slice(&BASE64_STANDARD.decode(signature).unwrap()).expect("the right signature");
        assert_eq!(body["id"], id);
    }
    assert!(other.take_asked().is_empty(), "a redirect was followed");
    let log = world.log();
    assert!(
        log.contains("the approval hook failed: the code is denied") && !log.contains("import json"),
        "{log}"
    );
}

#[test]
fn a_hook_that_cannot_be_reached_denies() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let world = keyed(&format!("http://{gone}/"), "when: always", "");
    let (_, client) = world.make(json!({}));
    let error = client.post("/v1/execute", &json!({"code": "print(1)"})).refused(403);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("the approval hook could not be reached"), "{message}");
}

#[test]
fn a_hook_is_asked_only_where_asked_and_can_pass_on_to_a_person() {
    let hook = Hook::start();
    hook.reply(Reply::json(&json!({"decision": "ask", "reason": "too hard for me"})));
    let rule = "  rules: [{name: json, when: '\"json\" in imports', then: ask}]\n";
    let world = keyed(&format!("http://{}/", hook.address), "when: asked", rule);
    let (_, client) = world.make(json!({}));
    client.post("/v1/execute", &json!({"code": "print(1)"})).ok();
    assert!(hook.take_asked().is_empty());
    std::thread::scope(|scope| {
        let asking =
            scope.spawn(|| client.post("/v1/execute", &json!({"code": "import json; print(2)"})).ok());
        let held = || world.master().get("/v1/admin/approvals").ok()["data"].clone();
        wait_until("one waits for a person", || held().as_array().unwrap().len() == 1);
        let one = held()[0].clone();
        assert_eq!(
            (&one["asked_by"]["by"], &one["asked_reason"]),
            (&json!("webhook"), &json!("too hard for me"))
        );
        let path = format!("/v1/admin/approvals/{}", one["id"].as_str().unwrap());
        world.master().post(&path, &json!({"decision": "approve"})).ok();
        assert_eq!(asking.join().unwrap()["stdout"], "2\n");
    });
    assert_eq!(hook.take_asked().len(), 1);
}
