//! Code that runs elsewhere: a second server is the provider, or something that only pretends to be one. What the
//! client gets, and that nothing is left over.

use rustix::process::Signal;
use sandgate_testkit::Turn;
use serde_json::{Value, json};

use crate::common::{
    ACCOUNT, Client, Hook, Keyed, OUTPUTS, Reply, World, account, code_tool, container_of, failure_of,
    finish, left_at, logs, sandgate, told, wait_until,
};

fn backend(name: &str, address: impl std::fmt::Display, kind: &str, more: &str) -> String {
    let reached = match kind {
        "e2b" => format!("url: 'http://{address}/e2b', sandbox_url: 'http://{address}/e2b'"),
        _ => format!("url: 'http://{address}/v1'"),
    };
    format!("  {name}: {{type: {kind}, {reached}, key: {ACCOUNT}, rest_seconds: 600{more}}}\n")
}

/// A gate without an engine of its own.
fn near(url: &str, backends: &str) -> String {
    format!("upstream: {{url: '{url}'}}\nembedded: false\nbackend: far\nbackends:\n{backends}")
}

fn gate_of(far: &World, kind: &str) -> World {
    let address = account(far).address;
    World::configured(|url| near(url, &backend("far", address, kind, "")))
}

#[test]
fn a_response_runs_at_each_provider_as_it_would_here_and_leaves_nothing() {
    let far = World::with("responses", "");
    for kind in ["e2b", "opensandbox"] {
        let gate = gate_of(&far, kind);
        let code = "import sys\nprint('out')\nprint('err', file=sys.stderr)\nopen('made.txt', 'w').write('kept')\n6 * 7";
        let client =
            gate.client([Turn::code(code), Turn::text("done"), Turn::code("1 / 0"), Turn::text("oh")]);
        let response = client.respond(json!({"include": [OUTPUTS]}));
        let said = logs(&response);
        for word in ["out", "err", "42"] {
            assert!(said.contains(word), "{kind}: {word} not in {said}");
        }
        let container = container_of(&response);
        let files = client.get(&format!("/v1/containers/{container}/files")).ok();
        assert_eq!(files["data"][0]["path"], "/mnt/data/made.txt", "{kind}: {files}");
        let id = files["data"][0]["id"].as_str().unwrap();
        let content = client.get(&format!("/v1/containers/{container}/files/{id}/content"));
        assert_eq!(content.text(), "kept", "{kind}");
        client.respond(json!({"previous_response_id": response["id"]}));
        let bodies = gate.bodies(&client);
        assert!(told(bodies.last().unwrap()).contains("ZeroDivisionError"), "{kind}");
        assert_eq!(left_at(&far), 1, "{kind}");
        client.delete(&format!("/v1/containers/{container}")).ok();
        assert_eq!(left_at(&far), 0, "{kind}");
    }
}

#[test]
fn a_provider_that_loses_its_sandboxes_costs_variables_and_no_files() {
    let far = World::with("responses", "");
    let gate = gate_of(&far, "e2b");
    let again = "print(open('kept.txt').read())\nprint('x' in globals())";
    let client = gate.client([
        Turn::code("x = 1\nopen('kept.txt', 'w').write('still here')"),
        Turn::text("written"),
        Turn::code(again),
        Turn::text("read"),
    ]);
    let first = client.respond(json!({}));
    let account = account(&far);
    for sandbox in account.get("/e2b/v2/sandboxes").ok().as_array().unwrap() {
        let id = sandbox["sandboxID"].as_str().unwrap();
        assert_eq!(account.delete(&format!("/e2b/sandboxes/{id}")).status, 204);
    }
    let second = client.respond(json!({"previous_response_id": first["id"], "include": [OUTPUTS]}));
    let said = logs(&second);
    assert!(said.contains("still here") && said.contains("False"), "{said}");
    assert_eq!(container_of(&first), container_of(&second));
    let bodies = gate.bodies(&client);
    assert!(told(bodies.last().unwrap()).contains("variables of earlier executions are gone"));
    client.delete(&format!("/v1/containers/{}", container_of(&first))).ok();
    assert_eq!(left_at(&far), 0);
}

#[test]
fn a_provider_that_is_killed_is_said_to_be_gone_and_then_not_asked() {
    let mut far = World::with("responses", "");
    let gate = gate_of(&far, "e2b");
    let client = gate.client([Turn::code("print(1)"), Turn::text("one"), Turn::code("print(2)")]);
    let first = client.respond(json!({}));
    far.signal(Signal::KILL);
    far.ended();
    let message = failure_of(&client.stream(json!({"previous_response_id": first["id"]})));
    assert!(message.contains("backend 'far' is not available"), "{message}");
    let fresh = json!({"code": "print(1)"});
    for _ in 0..6 {
        client.post("/v1/execute", &fresh).refused(503);
    }
    let error = client.post("/v1/execute", &fresh).refused(503);
    assert!(error["message"].as_str().unwrap().contains("times in a row"), "{error}");
    // Of those that never came to be, nothing is there.
    let list = client.get("/v1/containers").ok();
    assert_eq!(list["data"].as_array().unwrap().len(), 1, "{list}");
    assert_eq!(std::fs::read_dir(gate.home().join("remote")).unwrap().count(), 2);
}

#[test]
fn providers_that_are_silent_or_talk_nonsense_are_told_apart() {
    let hook = Hook::start();
    let more = ", create_timeout_seconds: 1, timeout_seconds: 1, failures: 100";
    for kind in ["e2b", "opensandbox"] {
        let gate = World::configured(|url| near(url, &backend("far", hook.address, kind, more)));
        let client = gate.client([]);
        hook.reply(Reply::Silence);
        let silent = client.post("/v1/execute", &json!({"code": "1"})).refused(503);
        assert!(silent["message"].as_str().unwrap().contains("did not answer within"), "{kind}: {silent}");
        hook.reply(Reply::Bytes("200 OK", String::new(), "<html>hello</html>".to_owned()));
        let nonsense = client.post("/v1/execute", &json!({"code": "1"})).refused(503);
        assert!(nonsense["message"].as_str().unwrap().contains("makes no sense"), "{kind}: {nonsense}");
        assert_eq!(client.get("/v1/containers").ok()["data"], json!([]), "{kind}");
    }
}

#[test]
fn nobody_is_asked_in_its_place_unless_the_configuration_says_so() {
    let far = World::with("responses", "");
    let nowhere = "127.0.0.1:9";
    let there = account(&far).address;
    for (fallback, status) in [("", 503), (", fallback: [other]", 200)] {
        let backends = backend("far", nowhere, "e2b", fallback) + &backend("other", there, "e2b", "");
        let gate = World::configured(|url| near(url, &backends));
        let client = gate.client([]);
        let answer = client.post("/v1/execute", &json!({"code": "print(1)"}));
        assert_eq!(answer.status, status, "{}", answer.text());
        assert_eq!(left_at(&far), usize::from(status == 200));
    }
}

#[test]
fn what_a_crash_left_is_removed_and_what_is_used_is_found_again() {
    let far = World::with("responses", "");
    let mut gate = gate_of(&far, "e2b");
    let client = gate.client([]);
    let kept = client.post("/v1/execute", &json!({"code": "x = 41"})).ok();
    let forgotten = client.post("/v1/execute", &json!({"code": "1"})).ok();
    // Another gate's, under the same account.
    let other = gate_of(&far, "e2b");
    other.client([]).post("/v1/execute", &json!({"code": "1"})).ok();
    assert_eq!(left_at(&far), 3);
    // As if it had died between the provider's answer and its own record.
    let folder = gate.home().join("remote");
    let record =
        |name: &std::path::Path| std::fs::read_to_string(name.join("place.json")).unwrap_or_default();
    let mut folders: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap()).collect();
    folders.retain(|entry| record(&entry.path()).contains("\"used\":true"));
    folders.sort_by_key(|entry| entry.metadata().unwrap().created().unwrap());
    std::fs::remove_dir_all(folders.last().unwrap().path()).unwrap();
    gate.crash_and_restart();
    wait_until("the sandbox that nobody knows of is gone", || left_at(&far) == 2);
    let client = gate.again(&client);
    let again = client.post("/v1/execute", &json!({"container": kept["container"], "code": "x + 1"})).ok();
    assert_eq!(again["results"][0]["data"]["text/plain"], "42", "{again}");
    client.post("/v1/execute", &json!({"container": forgotten["container"], "code": "1"})).refused(404);
}

#[test]
fn a_key_a_model_and_a_request_choose_and_the_operator_sees_how_each_is() {
    let far = World::with("responses", "");
    let there = account(&far).address;
    let more = format!(
        "backends:\n{}{}",
        backend("far", there, "e2b", ""),
        backend("down", "127.0.0.1:9", "opensandbox", "")
    );
    let keyed = Keyed::with("responses", &more);
    let run = json!({"code": "print(1)"});
    keyed.limited(json!({})).post("/v1/execute", &run).ok();
    assert_eq!(left_at(&far), 0);
    keyed.limited(json!({"backend": "far"})).post("/v1/execute", &run).ok();
    assert_eq!(left_at(&far), 1);
    let unknown = json!({"name": "test", "limits": {"backend": "none"}});
    keyed.master().post("/v1/admin/keys", &unknown).refused(400);
    let asking = |limits: Value, name: &str| {
        let head = format!("application/json\r\nsandgate-backend: {name}");
        keyed.limited(limits).typed("POST", "/v1/execute", &head, run.to_string().as_bytes())
    };
    asking(json!({}), "far").ok();
    assert_eq!(left_at(&far), 2);
    asking(json!({}), "down").refused(503);
    asking(json!({"backend": "far"}), "embedded").refused(403);

    keyed.limited(json!({})).get("/health/backends").refused(403);
    let health = keyed.master().get("/health/backends");
    assert_eq!(health.status, 503, "{}", health.text());
    let health = health.json();
    let how: Vec<_> =
        health["backends"].as_array().unwrap().iter().map(|one| (&one["name"], &one["ok"])).collect();
    assert_eq!(
        how,
        [(&json!("embedded"), &json!(true)), (&json!("down"), &json!(false)), (&json!("far"), &json!(true))]
    );
    assert_eq!(left_at(&far), 2);
}

#[test]
fn a_model_chooses_in_both_apis_and_a_key_or_a_request_before_it() {
    let far = World::with("responses", "");
    let more = format!(
        "models: [{{name: near}}, {{name: far, backend: far}}]\nbackends:\n{}",
        backend("far", account(&far).address, "e2b", "")
    );
    let keyed = Keyed::with("responses", &more);
    let any = keyed.limited(json!({}));
    let here = keyed.limited(json!({"backend": "embedded"}));
    let there = keyed.limited(json!({"backend": "far"}));
    let turns = || [Turn::code("print(6 * 7)"), Turn::text("42")];
    // Who asks with which model, and how many sandboxes are at the provider then.
    for (client, model, left) in
        [(&any, "near", 0), (&any, "far", 1), (&here, "far", 1), (&there, "near", 2), (&there, "far", 3)]
    {
        keyed.script(turns());
        let response = client.respond(json!({"model": model, "include": [OUTPUTS]}));
        assert_eq!(logs(&response), "42\n", "{model}");
        assert_eq!(left_at(&far), left, "{model}");
    }
    keyed.script(turns());
    any.complete(json!({"model": "far"}));
    assert_eq!(left_at(&far), 4);
    keyed.script(turns());
    any.complete(json!({"model": "near"}));
    assert_eq!(left_at(&far), 4);
    // A request that names one is asked before the model is.
    keyed.script(turns());
    let body = json!({"model": "far", "input": "go", "tools": code_tool()}).to_string();
    let head = "application/json\r\nsandgate-backend: embedded";
    any.typed("POST", "/v1/responses", head, body.as_bytes()).ok();
    assert_eq!(left_at(&far), 4);
}

#[test]
fn each_backend_has_its_figures() {
    let far = World::with("responses", "");
    let backends = backend("far", account(&far).address, "e2b", "")
        + &backend("down", "127.0.0.1:9", "e2b", ", failures: 2");
    let keyed = Keyed::with("responses", &format!("backends:\n{backends}"));
    let client = keyed.limited(json!({}));
    let on = |name: &str, code: &str| {
        let head = format!("application/json\r\nsandgate-backend: {name}");
        client.typed("POST", "/v1/execute", &head, json!({"code": code}).to_string().as_bytes())
    };
    let figures = |lines: &[&str]| {
        let text = keyed.master().get("/metrics").text();
        for line in lines {
            assert!(text.lines().any(|found| found == *line), "{line} is not in\n{text}");
        }
    };
    figures(&[
        "sandgate_backend_executions_total{backend=\"far\",ending=\"ok\"} 0",
        "sandgate_backend_executions_total{backend=\"embedded\",ending=\"ok\"} 0",
        "sandgate_backend_failures_total{backend=\"down\"} 0",
        "sandgate_backend_available{backend=\"down\"} 1",
    ]);
    on("far", "print(1)").ok();
    on("far", "1 / 0").ok();
    on("embedded", "print(1)").ok();
    for _ in 0..3 {
        on("down", "print(1)").refused(503);
    }
    figures(&[
        "sandgate_backend_executions_total{backend=\"far\",ending=\"ok\"} 1",
        "sandgate_backend_executions_total{backend=\"far\",ending=\"raised\"} 1",
        "sandgate_backend_executions_total{backend=\"embedded\",ending=\"ok\"} 1",
        // The third was not asked any more.
        "sandgate_backend_failures_total{backend=\"down\"} 2",
        "sandgate_backend_available{backend=\"down\"} 0",
        "sandgate_backend_failures_total{backend=\"far\"} 0",
        "sandgate_backend_available{backend=\"far\"} 1",
    ]);
}

/// A reaper takes what nobody knows of; what another backend of the same gate knows of is none of its business.
#[test]
fn two_backends_of_one_account_leave_each_others_sandboxes_alone() {
    let far = World::with("responses", "");
    let there = account(&far).address;
    let backends = backend("one", there, "e2b", "") + &backend("two", there, "e2b", "");
    let text = |url: &str| near(url, &backends).replace("backend: far", "backend: one");
    let mut gate = World::configured(text);
    let client = gate.client([]);
    let on = |client: &Client, name: &str| {
        let head = format!("application/json\r\nsandgate-backend: {name}");
        client.typed("POST", "/v1/execute", &head, br#"{"code": "x = 41"}"#).ok()
    };
    let made = [on(&client, "one"), on(&client, "two")];
    assert_eq!(left_at(&far), 2);
    // Each looks for what was left behind when the gate starts.
    gate.crash_and_restart();
    let client = gate.again(&client);
    for container in made.map(|made| made["container"].clone()) {
        let again = client.post("/v1/execute", &json!({"container": container, "code": "x + 1"})).ok();
        assert_eq!(again["results"][0]["data"]["text/plain"], "42", "{again}");
    }
    assert_eq!(left_at(&far), 2);
}

/// Whoever asks how backends are, and leaves before he is told, leaves no sandbox behind.
#[test]
fn a_check_that_nobody_waits_for_cleans_up_after_itself() {
    let far = World::with("responses", "");
    let keyed =
        Keyed::with("responses", &format!("backends:\n{}", backend("far", account(&far).address, "e2b", "")));
    let master = keyed.master();
    for _ in 0..5 {
        drop(master.send("GET", "/health/backends", "application/json", b""));
    }
    assert_eq!(master.get("/health/backends").ok()["ok"], true);
    wait_until("nothing is left at the provider", || left_at(&far) == 0);
    let left = || std::fs::read_dir(keyed.home().join("remote")).map_or(0, Iterator::count);
    wait_until("nothing is left here", || left() <= 1);
}

#[test]
fn the_doctor_tries_each_backend_and_says_what_is_wrong() {
    let far = World::with("responses", "");
    let there = account(&far).address;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gate.yaml");
    let diagnose = |backends: &str| {
        let text = format!("embedded: false\nbackend: far\nbackends:\n{backends}");
        std::fs::write(&path, text).unwrap();
        let mut command = sandgate(folder.path());
        command.args(["doctor", "--json", "--config"]).arg(&path);
        let output = finish(command.spawn().unwrap());
        let said: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        (output.status.code(), said)
    };
    let more = ", connect_timeout_seconds: 2";
    let well = backend("far", there, "e2b", more) + &backend("own", there, "opensandbox", more);
    let (code, said) = diagnose(&well);
    assert_eq!((code, &said["ok"]), (Some(0), &json!(true)), "{said}");
    assert_eq!(said["checks"].as_array().unwrap().len(), 2, "{said}");
    assert!(said["checks"][0]["detail"].as_str().unwrap().starts_with("e2b: ran code in "), "{said}");
    assert_eq!(left_at(&far), 0);
    let (code, said) = diagnose(&(well + &backend("down", "127.0.0.1:9", "opensandbox", more)));
    assert_eq!((code, &said["ok"]), (Some(1), &json!(false)), "{said}");
    let down = &said["checks"][0];
    assert_eq!((&down["name"], &down["state"]), (&json!("down"), &json!("missing")));
    assert!(down["detail"].as_str().unwrap().contains("cannot be reached"), "{down}");
    assert!(down["remedy"].as_str().unwrap().contains("its address, its key"), "{down}");
    assert_eq!(left_at(&far), 0);
    assert!(!said.to_string().contains(ACCOUNT));
}

/// What code does to its own sandbox is its own loss: the backend is there for everybody else.
#[test]
fn code_that_breaks_its_sandbox_closes_the_backend_for_nobody() {
    let far = World::with("responses", "");
    let text = near("http://127.0.0.1:9/v1", &backend("far", account(&far).address, "e2b", ", failures: 2"));
    let gate = World::configured(|_| text);
    let client = gate.client([]);
    let bad = client.post("/v1/execute", &json!({"code": "1"})).ok();
    for _ in 0..4 {
        let death = json!({"code": "import os\nos._exit(9)", "container": bad["container"]});
        client.post("/v1/execute", &death).ok();
    }
    let fine = client.post("/v1/execute", &json!({"code": "print(6 * 7)"})).ok();
    assert_eq!(fine["stdout"], "42\n", "{fine}");
}
