//! The configuration, as an operator meets it: several upstreams, groups, a change while requests are under
//! way, a file of LiteLLM, and the commands that look at a file.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use sandgate_testkit::{ScriptedModel, Turn};
use serde_json::{Value, json};

use crate::common::{Client, World, another_model, finish, sandgate, turn, wait_until};

/// What this model was asked with the client's key, without a breach of the rules.
#[track_caller]
fn bodies(model: &ScriptedModel, key: &str) -> Vec<Value> {
    let violations = model.violations_of(key);
    assert!(violations.is_empty(), "{violations:?}");
    model.requests(key).into_iter().map(|request| request.body).collect()
}

fn text_of(response: &Value) -> &str {
    let output = response["output"].as_array().expect("an output");
    output.last().expect("an item")["content"][0]["text"].as_str().expect("a text")
}

#[test]
fn each_model_has_its_upstream_and_its_name_there() {
    let other = another_model();
    let world = World::configured(|url| {
        let other = other.base_url();
        format!(
            "upstreams:\n  main: {{url: '{url}'}}\n  old: {{url: '{other}', api: chat}}\nmodels:\n\
             - {{name: big, upstream: main, model: big-2026}}\n- {{name: small, upstream: old}}\n"
        )
    });
    let client = world.client([Turn::code("print(6*7)"), Turn::text("42"), Turn::text("passed on")]);
    other.script(&client.key, [Turn::code("print(1)"), Turn::text("one")]);

    let response = client.respond(json!({"model": "big"}));
    assert_eq!((&response["model"], text_of(&response)), (&json!("big"), "42"));
    let response = client.respond(json!({"model": "small"}));
    assert_eq!((&response["model"], text_of(&response)), (&json!("small"), "one"));
    let passed = client.post("/v1/responses", &json!({"model": "big", "input": "hi"})).ok();
    assert_eq!((&passed["model"], text_of(&passed)), (&json!("big"), "passed on"));

    let asked = bodies(&world.model, &client.key);
    assert_eq!(asked.len(), 3);
    assert!(asked.iter().all(|body| body["model"] == "big-2026"), "{asked:?}");
    let asked = bodies(&other, &client.key);
    assert!(asked.len() == 2 && asked.iter().all(|body| body["model"] == "small"), "{asked:?}");

    let list = client.get("/v1/models").ok();
    let names: Vec<&Value> = list["data"].as_array().unwrap().iter().map(|model| &model["id"]).collect();
    assert_eq!(names, ["big", "small"]);
    for tools in [json!([]), json!([{"type": "code_interpreter", "container": {"type": "auto"}}])] {
        for stream in [false, true] {
            let error =
                client.create(json!({"model": "none", "tools": tools, "stream": stream})).refused(404);
            assert_eq!(error["code"], "model_not_found");
            assert_eq!(error["message"], "The model 'none' does not exist or you do not have access to it.");
        }
    }
}

#[test]
fn a_group_shares_the_load_and_does_without_a_member_that_is_gone() {
    let other = another_model();
    let world = World::configured(|url| {
        let other = other.base_url();
        format!(
            "upstreams:\n  a: {{url: '{url}'}}\n  b: {{url: '{other}'}}\n  gone: {{url: 'http://127.0.0.1:9/v1'}}\n\
             models:\n- {{name: m, upstream: a}}\n- {{name: m, upstream: b}}\n- {{name: m, upstream: gone}}\n"
        )
    });
    let client = world.client((0..9).map(|_| Turn::text("a")));
    other.script(&client.key, (0..9).map(|_| Turn::text("b")));
    for _ in 0..9 {
        client.respond(json!({"model": "m"}));
    }
    let (a, b) = (bodies(&world.model, &client.key).len(), bodies(&other, &client.key).len());
    assert!(a + b == 9 && a >= 3 && b >= 3, "{a} and {b}");
}

#[test]
fn a_change_under_load_drops_no_request_and_a_broken_one_changes_nothing() {
    let other = another_model();
    let world = World::configured(|url| format!("pool: 1\nupstream: {{url: '{url}'}}\n"));
    let file =
        format!("pool: 3\nlog: debug\nupstream: {{url: '{}'}}\ngate: {{rounds: 1}}\n", other.base_url());
    let slow =
        world.client([turn(json!({"items": [{"text": "a long word"}], "chunk": 1, "delta_delay_ms": 150}))]);
    let clients: Vec<Client> = (0..3)
        .map(|_| {
            let client = world.client((0..500).map(|_| Turn::text("old")));
            other.script(&client.key, (0..500).map(|_| Turn::text("new")));
            client
        })
        .collect();
    let (over, new) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        for client in &clients {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    // As it comes from the loop, and passed on.
                    let response = client.respond(json!({"model": "m"}));
                    client.post("/v1/responses", &json!({"model": "m", "input": "hi"})).ok();
                    new.fetch_add(usize::from(text_of(&response) == "new"), Ordering::Relaxed);
                }
            });
        }
        let mut streaming = slow.open_stream(json!({"model": "m"}));
        streaming.until("response.output_text.delta");
        world.reconfigure(&file);
        wait_until("answers of the new upstream", || new.load(Ordering::Relaxed) > 3);
        let done = streaming.until("response.completed");
        assert_eq!(text_of(&done["response"]), "a long word");
        over.store(true, Ordering::Relaxed);
    });
    assert!(world.log().contains("these keys have changed, but take a new start: pool"), "{}", world.log());

    world.reconfigure("upstreem: {}\n");
    wait_until("a word on the broken file", || world.log().contains("did you mean 'upstream'?"));
    let last = &clients[0];
    other.script(&last.key, [Turn::code("1"), Turn::code("2"), Turn::text("still there")]);
    // The new limit of rounds holds too: the second call has no tool to be made with.
    let error = last.create(json!({"model": "m"})).refused(500);
    assert!(error["message"].as_str().unwrap().contains("1 rounds"), "{error}");
}

#[test]
fn a_file_of_litellm_runs_as_it_is() {
    let world = World::configured(|url| {
        format!(
            "model_list:\n  - model_name: gpt-5\n    litellm_params:\n      model: openai/gpt-5-real\n\
             \x20     api_base: {url}\n      api_key: sk-operator\n      max_agentic_loops: 1\n\
             sandbox_tools:\n  - sandbox_tool_name: my-sandbox\n    litellm_params:\n\
             \x20     sandbox_provider: embedded\n\
             litellm_settings:\n  callbacks: [\"code_interpreter_interception\"]\n  drop_params: true\n\
             \x20 code_interpreter_interception_params:\n    enabled: true\n    sandbox_tool_name: my-sandbox\n\
             general_settings:\n  master_key: sk-master\n"
        )
    });
    world.model.script("sk-operator", [Turn::code("print(6*7)"), Turn::text("42")]);
    let mut client = world.client([]);
    client.key = "sk-master".to_owned();
    let response = client.respond(json!({"model": "gpt-5"}));
    assert_eq!((&response["model"], text_of(&response)), (&json!("gpt-5"), "42"));
    let asked = bodies(&world.model, "sk-operator");
    assert!(asked.len() == 2 && asked.iter().all(|body| body["model"] == "gpt-5-real"), "{asked:?}");

    assert_eq!(client.stranger().create(json!({"model": "gpt-5"})).status, 401);
    world.model.script("sk-operator", [Turn::code("1"), Turn::code("2"), Turn::text("never")]);
    let error = client.create(json!({"model": "gpt-5"})).refused(500);
    assert!(error["message"].as_str().unwrap().contains("1 rounds"), "{error}");
    let log = world.log();
    assert!(log.contains("litellm_settings.drop_params: this has no effect here"), "{log}");
    assert!(!log.contains("sk-operator") && !log.contains("sk-master"), "{log}");
}

#[test]
fn a_file_can_be_checked_without_serving() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gate.yaml");
    let check = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let child = sandgate(folder.path()).args(["config", "check"]).arg(&path).spawn().unwrap();
        let output = finish(child);
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), said(&output.stdout), said(&output.stderr))
    };
    let (code, out, _) = check("upstream: {url: 'http://127.0.0.1:9/v1', key: sk-secret}\n");
    assert!(code == Some(0) && out.contains("http://127.0.0.1:9/v1") && !out.contains("sk-secret"), "{out}");
    for (text, said) in [
        ("gate:\n  ronds: 3\n", "gate.yaml:2:3: gate.ronds: there is no such key; did you mean 'rounds'?"),
        ("pool: 1\npool: 2\n", "gate.yaml:2:1: pool: this key is there twice"),
        (
            "upstream: {url: 'http://x', key: 'env:SANDGATE_NO'}\n",
            "upstream.key: the variable SANDGATE_NO is not set",
        ),
        ("models: [{name: m, upstream: x}]\n", "models[0].upstream: there is no upstream 'x'"),
    ] {
        let (code, _, err) = check(text);
        assert!(code == Some(2) && err.contains(said), "{code:?} {err}");
    }
    let schema = finish(sandgate(folder.path()).args(["config", "schema"]).spawn().unwrap());
    let schema: Value = serde_json::from_slice(&schema.stdout).unwrap();
    assert_eq!(schema["title"], "sandgate.yaml");
}
