//! Rules and people before code runs: what each outcome means for the model, for the client and for the
//! sandbox, by every door.

use std::thread;

use sandgate_testkit::Turn;
use serde_json::{Value, json};

use crate::common::{
    Answer, Client, Keyed, MASTER, OUTPUTS, accumulated, finish, items, kinds, no_internal_call, sandgate,
    told, wait_until,
};

/// Leaves a mark that it ran.
const MARKS: &str = "open('mark.txt', 'w').write('ran')\nprint('it ran')";

fn denied_code() -> String {
    format!("import socket\n{MARKS}")
}

const RULES: &str = r#"approvals:
  person_timeout_seconds: 100
  rules:
  - {name: no-sockets, when: '"socket" in imports', then: deny, reason: there is no network here}
  - {name: look-at-os, when: 'imports.exists(m, m == "os")', then: ask, reason: look at this}
  - {name: not-ci, when: 'key.name == "ci"', then: deny}
  - {name: not-small, when: 'model == "small" && door == "chat"', then: deny}
  - {name: first-is-sys, when: 'code.contains("first") && imports[0] == "sys"', then: deny}
  - {name: only-scratch, when: 'container.name == "precious"', then: deny, reason: not in there}
"#;

/// Whether the code left its mark in this container, seen from outside.
#[track_caller]
fn ran(client: &Client, container: &str) -> bool {
    let files = client.get(&format!("/v1/containers/{container}/files")).ok();
    let files = files["data"].as_array().unwrap();
    files.iter().any(|file| file["path"].as_str().unwrap().ends_with("mark.txt"))
}

/// What waits for a person.
fn held(world: &Keyed) -> Vec<Value> {
    world.master().get("/v1/admin/approvals").ok()["data"].as_array().unwrap().clone()
}

#[track_caller]
fn wait_for_one(world: &Keyed) -> Value {
    wait_until("one waits for a person", || held(world).len() == 1);
    held(world).remove(0)
}

fn decide(world: &Keyed, one: &Value, body: &Value) -> Answer {
    world.master().post(&format!("/v1/admin/approvals/{}", one["id"].as_str().unwrap()), body)
}

fn container(client: &Client, name: &str) -> String {
    client.post("/v1/containers", &json!({"name": name})).ok()["id"].as_str().unwrap().to_owned()
}

fn in_container(id: &str) -> Value {
    json!({"tools": [{"type": "code_interpreter", "container": id}], "include": [OUTPUTS]})
}

#[test]
fn denied_code_of_a_response_does_not_run_and_the_model_is_told() {
    let world = Keyed::with("responses", RULES);
    let (_, client) = world.make(json!({}));
    for stream in [false, true] {
        let place = container(&client, "scratch");
        world.script([Turn::code(denied_code()), Turn::text("I see"), Turn::code(MARKS), Turn::text("done")]);
        let response = if stream {
            let events = client.stream(in_container(&place));
            let kinds = kinds(&events);
            assert!(!kinds.contains(&"response.code_interpreter_call.completed"), "{kinds:?}");
            events.last().unwrap()["response"].clone()
        } else {
            let answer = client.create(in_container(&place));
            no_internal_call(&answer);
            answer.ok()
        };
        assert_eq!(response["status"], "completed");
        let call = items(&response, "code_interpreter_call")[0];
        assert_eq!((&call["status"], &call["outputs"]), (&json!("failed"), &json!([])));
        assert_eq!(call["code"], denied_code());
        assert_eq!(
            told(&world.heard().last().unwrap().body),
            "[the code was not run: there is no network here]"
        );
        assert!(!ran(&client, &place), "it ran");
        // The same without the import does.
        let response = client.respond(in_container(&place));
        assert_eq!(items(&response, "code_interpreter_call")[0]["status"], "completed");
        assert!(ran(&client, &place), "it did not run");
    }
}

#[test]
fn denied_code_of_a_completion_does_not_run_and_the_model_is_told() {
    let world = Keyed::with("responses", RULES);
    let (_, client) = world.make(json!({}));
    for stream in [false, true] {
        let place = container(&client, "scratch");
        world.script([Turn::code(denied_code()), Turn::text("I see")]);
        let fields = json!({"tools": [{"type": "code_interpreter", "container": place}]});
        let message = if stream {
            accumulated(&client.chunks(fields))
        } else {
            client.complete(fields)["choices"][0]["message"].clone()
        };
        assert_eq!(message["content"], "I see");
        let call = &message["code_interpreter"]["calls"][0];
        assert_eq!((&call["status"], &call["outputs"]), (&json!("failed"), &json!([])), "{message}");
        let heard = world.heard().last().unwrap().body.to_string();
        assert!(heard.contains("[the code was not run: there is no network here]"), "{heard}");
        assert!(!ran(&client, &place), "it ran");
    }
}

#[test]
fn denied_code_of_an_execution_is_refused() {
    let world = Keyed::with("loopback", RULES);
    let (_, client) = world.make(json!({}));
    let place = container(&client, "scratch");
    for stream in [false, true] {
        let body = json!({"code": denied_code(), "container": place, "stream": stream});
        let error = client.post("/v1/execute", &body).refused(403);
        assert_eq!(error["code"], "execution_denied");
        assert!(error["message"].as_str().unwrap().contains("there is no network here"), "{error}");
        assert!(!ran(&client, &place), "it ran");
        client.post("/v1/execute", &json!({"code": denied_code()})).refused(403);
    }
    client.post("/v1/execute", &json!({"code": MARKS, "container": place})).ok();
    assert!(ran(&client, &place), "it did not run");
}

#[test]
fn rules_see_the_key_the_model_the_container_and_the_door() {
    let world = Keyed::with("responses", RULES);
    let (_, other) = world.make(json!({"name": "other"}));
    let (_, ci) = world.make(json!({"name": "ci"}));
    let run = |client: &Client, code: &str, place: &str| {
        client.post("/v1/execute", &json!({"code": code, "container": place}))
    };
    run(&other, MARKS, &container(&other, "scratch")).ok();
    let reason = |answer: Answer| answer.refused(403)["message"].as_str().unwrap().to_owned();
    let place = container(&ci, "scratch");
    assert!(reason(run(&ci, MARKS, &place)).contains("the rule 'not-ci' forbids it"));
    assert!(!ran(&ci, &place));
    assert!(reason(run(&other, MARKS, &container(&other, "precious"))).contains("not in there"));
    // A rule that does not fit the code denies, names itself, and is in the log.
    let said = reason(run(&other, "# first\nprint(1)", &container(&other, "scratch")));
    assert!(said.contains("the rule 'first-is-sys' could not be applied to it"), "{said}");
    assert!(world.log().contains("a rule failed"), "{}", world.log());

    for (model, status) in [("small", "failed"), ("large", "completed")] {
        world.script([Turn::code("print(1)"), Turn::text("I see")]);
        let whole = other.complete(json!({"model": model}));
        let call = &whole["choices"][0]["message"]["code_interpreter"]["calls"][0];
        assert_eq!(call["status"], status, "{whole}");
        // The same model by the other door.
        world.script([Turn::code("print(1)"), Turn::text("I see")]);
        let response = other.respond(json!({"model": model}));
        assert_eq!(items(&response, "code_interpreter_call")[0]["status"], "completed");
    }
}

#[test]
fn a_person_decides_while_the_client_waits() {
    let world = Keyed::with("responses", RULES);
    let (made, client) = world.make(json!({"name": "ann"}));
    let code = format!("import os\n{MARKS}");
    for (decision, stream) in [("approve", false), ("deny", false), ("approve", true), ("deny", true)] {
        let place = container(&client, "scratch");
        world.script([Turn::code(code.clone()), Turn::text("I see")]);
        let (answer, one) = thread::scope(|scope| {
            let mut fields = in_container(&place);
            fields["stream"] = json!(stream);
            let asking = scope.spawn(|| client.create(fields));
            let one = wait_for_one(&world);
            assert!(!ran(&client, &place), "it did not wait");
            // Nobody else may.
            let path = format!("/v1/admin/approvals/{}", one["id"].as_str().unwrap());
            client.post(&path, &json!({"decision": "approve"})).refused(403);
            client.get("/v1/admin/approvals").refused(403);
            decide(&world, &one, &json!({"decision": decision, "reason": "I looked"})).ok();
            let again = decide(&world, &one, &json!({"decision": "approve"})).refused(409);
            assert_eq!(again["code"], "approval_over");
            (asking.join().unwrap(), one)
        });
        assert_eq!((&one["code"], &one["imports"]), (&json!(code), &json!(["os"])));
        assert_eq!((&one["model"], &one["door"]), (&json!("gpt-test"), &json!("responses")));
        assert_eq!(one["key"], json!({"id": made["id"], "name": "ann", "owner": made["owner"]}));
        assert_eq!(one["container"], json!({"id": place, "name": "scratch"}));
        assert_eq!(one["asked_by"], json!({"by": "rule", "rule": "look-at-os"}));
        assert_eq!(one["asked_reason"], "look at this");
        let response = if stream { answer.events().last().unwrap()["response"].clone() } else { answer.ok() };
        let call = items(&response, "code_interpreter_call")[0];
        let told = world.heard().last().unwrap().body.to_string();
        if decision == "approve" {
            assert_eq!(call["status"], "completed");
            assert!(told.contains("it ran") && ran(&client, &place), "{told}");
        } else {
            assert_eq!(call["status"], "failed");
            assert!(told.contains("[the code was not run: I looked]") && !ran(&client, &place), "{told}");
        }
        assert!(held(&world).is_empty());
    }
}

#[test]
fn a_client_that_leaves_takes_its_question_away() {
    let world = Keyed::with("responses", RULES);
    let (_, client) = world.make(json!({}));
    let code = format!("import os\n{MARKS}");
    let place = container(&client, "scratch");
    let mut response = in_container(&place);
    response["model"] = json!("gpt-test");
    response["input"] = json!("go");
    let chat = json!({
        "model": "gpt-test", "messages": [{"role": "user", "content": "go"}],
        "tools": [{"type": "code_interpreter", "container": place}]
    });
    let execute = json!({"code": code, "container": place});
    for (path, fields) in
        [("/v1/responses", &response), ("/v1/chat/completions", &chat), ("/v1/execute", &execute)]
    {
        for stream in [false, true] {
            if path != "/v1/execute" {
                world.script([Turn::code(code.clone())]);
            }
            let mut fields = fields.clone();
            fields["stream"] = json!(stream);
            let body = fields.to_string();
            let connection = client.send("POST", path, "application/json", body.as_bytes());
            let one = wait_for_one(&world);
            drop(connection);
            wait_until("the question is gone", || held(&world).is_empty());
            let error = decide(&world, &one, &json!({"decision": "approve"})).refused(409);
            assert!(error["message"].as_str().unwrap().contains("has left"), "{error}");
            assert!(!ran(&client, &place), "{path}");
        }
    }
}

#[test]
fn nobody_decides_in_time_and_there_is_only_so_much_room() {
    let short = "approvals: {default: ask, person_timeout_seconds: 3, max_held: 1}\n";
    let world = Keyed::with("loopback", short);
    let (_, client) = world.make(json!({}));
    let place = container(&client, "scratch");
    let body = json!({"code": MARKS, "container": place});
    thread::scope(|scope| {
        let first = scope.spawn(|| client.post("/v1/execute", &body).refused(403));
        wait_for_one(&world);
        let full = client.post("/v1/execute", &body).refused(403);
        assert!(full["message"].as_str().unwrap().contains("too many executions wait"), "{full}");
        let late = first.join().unwrap();
        assert!(late["message"].as_str().unwrap().contains("nobody decided within 3 seconds"), "{late}");
    });
    assert!(!ran(&client, &place));
}

#[test]
fn a_change_of_the_file_changes_the_rules_and_a_bad_expression_changes_nothing() {
    let world = Keyed::with("loopback", "");
    let (_, client) = world.make(json!({}));
    let run = || client.post("/v1/execute", &json!({"code": "print(1)"})).status;
    assert_eq!(run(), 200);
    let with = |more: &str| {
        let file = std::fs::read_to_string(world.home().join("config.yaml")).unwrap();
        world.reconfigure(&format!("{}{more}", file.split("approvals:").next().unwrap()));
    };
    with("approvals: {default: deny}\n");
    wait_until("the new policy", || run() == 403);
    with("approvals:\n  rules:\n  - {name: a, when: 'cod', then: allow}\n");
    wait_until("a word on the bad one", || {
        world.log().contains("approvals.rules[0].when: there is no name 'cod'")
    });
    assert_eq!(run(), 403);
    with("approvals: {default: deny, rules: [{name: a, when: 'code.contains(\"1\")', then: allow}]}\n");
    wait_until("the last policy", || run() == 200);
}

#[test]
fn a_bad_expression_stops_the_start() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("gate.yaml");
    std::fs::write(&path, "approvals:\n  rules:\n  - name: a\n    when: imports ==\n    then: deny\n")
        .unwrap();
    for arguments in [["config", "check"], ["serve", "--config"]] {
        let output = finish(sandgate(home.path()).args(arguments).arg(&path).spawn().unwrap());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("gate.yaml:4:11: approvals.rules[0].when: it is no expression"), "{said}");
    }
}

#[test]
fn the_command_line_decides_too() {
    let world = Keyed::with("loopback", "approvals: {default: ask}\n");
    let (_, client) = world.make(json!({}));
    let server = format!("http://{}", client.address);
    let approvals = |key: &str, arguments: &[&str]| {
        let mut command = sandgate(world.home());
        command.env("SANDGATE_MASTER_KEY", key).env("SANDGATE_URL", &server);
        let output = finish(command.arg("approvals").args(arguments).spawn().unwrap());
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), said(&output.stdout), said(&output.stderr))
    };
    assert_eq!(approvals(MASTER, &["list"]).1, "nothing waits for a decision\n");
    for (word, status) in [("approve", 200), ("deny", 403)] {
        thread::scope(|scope| {
            let asking = scope.spawn(|| client.post("/v1/execute", &json!({"code": "print('\u{1b}[2J')"})));
            let (code, out, err) = approvals(MASTER, &["list", "--wait", "--json"]);
            assert_eq!(code, Some(0), "{err}");
            let listed: Value = serde_json::from_str(&out).unwrap();
            let id = listed[0]["id"].as_str().unwrap();
            let (_, out, _) = approvals(MASTER, &["list"]);
            assert!(out.contains(id) && out.contains("  | print('\\u{1b}[2J')\n"), "{out}");
            let (code, out, err) = approvals(MASTER, &[word, id, "--reason", "because"]);
            assert!(code == Some(0) && out.contains(id), "{out} {err}");
            let (code, _, err) = approvals(MASTER, &[word, id]);
            assert!(code == Some(2) && err.contains("already"), "{code:?} {err}");
            assert_eq!(asking.join().unwrap().status, status);
        });
    }
    assert_eq!(approvals(MASTER, &["approve", "../keys"]).0, Some(2));
    assert_eq!(approvals(MASTER, &["approve", "appr_none"]).0, Some(2));
    let (code, _, err) = approvals("wrong-wrong-wrong", &["list"]);
    assert!(code == Some(1) && err.contains("Incorrect API key"), "{code:?} {err}");
    let (code, _, err) = approvals("", &["list"]);
    assert!(code == Some(2) && err.contains("master key"), "{code:?} {err}");
}
