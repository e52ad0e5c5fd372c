//! Paths as other servers have them: without a version, as Azure writes them, and the names by which probes ask.

use sandgate_testkit::Turn;
use serde_json::{Value, json};

use crate::common::{Client, Keyed, MASTER, UPSTREAM, World, code_tool, container_of, items, world};

fn plain() -> Value {
    json!({"model": "gpt-test", "input": "hello"})
}

#[test]
fn a_base_without_a_version_reaches_everything() {
    for base in ["", "/openai", "/openai/v1"] {
        let at = |path: &str| format!("{base}{path}");
        let client = world().client([Turn::text("passed"), Turn::code("print(6*7)"), Turn::text("42")]);
        client.post(&at("/responses"), &plain()).ok();
        let fields = json!({"model": "gpt-test", "input": "go", "tools": code_tool()});
        let response = client.post(&at("/responses"), &fields).ok();
        assert_eq!(items(&response, "code_interpreter_call").len(), 1, "{response}");
        let id = response["id"].as_str().unwrap();
        assert_eq!(client.get(&at(&format!("/responses/{id}"))).ok()["id"], *id);
        client.get(&at(&format!("/responses/{id}/input_items?limit=1"))).ok();
        let container = container_of(&response);
        assert_eq!(client.get(&at(&format!("/containers/{container}"))).ok()["id"], *container);
        client.get(&at("/containers?limit=1")).ok();
        client.get(&at("/files")).ok();
        client.post(&at("/conversations"), &json!({})).ok();
        client.get(&at("/models")).ok();
        client.post(&at("/embeddings"), &plain());
        let paths: Vec<String> = world().asked(&client).into_iter().map(|asked| asked.path).collect();
        let wanted = ["/v1/responses", "/v1/responses", "/v1/responses", "/v1/models", "/v1/embeddings"];
        assert_eq!(paths, wanted, "{base}");
        client.get(&at("/admin/keys")).refused(404);
        client.get(&at("/vector_stores")).refused(404);
    }
}

#[test]
fn chat_reaches_the_model_that_the_path_names() {
    let client =
        world().client([Turn::text("one"), Turn::text("two"), Turn::code("print(6*7)"), Turn::text("42")]);
    let mut fields = json!({"messages": [{"role": "user", "content": "hi"}]});
    client.post("/openai/deployments/team%2Fsmall/chat/completions?api-version=1", &fields).ok();
    fields["model"] = json!("gpt-test");
    client.post("/openai/deployments/other/chat/completions", &fields).ok();
    fields["tools"] = json!([{"type": "code_interpreter"}]);
    fields.as_object_mut().unwrap().remove("model");
    let ran = client.post("/engines/small/chat/completions", &fields).ok();
    assert_eq!(ran["choices"][0]["message"]["content"], "42", "{ran}");
    let models: Vec<Value> = world().bodies(&client).iter().map(|body| body["model"].clone()).collect();
    assert_eq!(models, ["team/small", "gpt-test", "small", "small"]);
}

/// The same are asked for a key, by whichever spelling, and a key may use its models alone.
#[test]
fn no_spelling_gets_past_a_key() {
    let keyed = Keyed::start("responses");
    let nobody = keyed.with_key("");
    for path in ["/responses", "/openai/v1/responses", "/openai/deployments/gpt-test/chat/completions"] {
        nobody.post(path, &plain()).refused(401);
    }
    for path in ["/models", "/files", "/containers", "/openai/v1/containers", "/metrics", "/console/nothing"]
    {
        assert_ne!(nobody.get(path).status, 200, "{path}");
    }
    let limited = keyed.limited(json!({"models": ["small"]}));
    limited.post("/responses", &plain()).refused(404);
    let fields = json!({"messages": [{"role": "user", "content": "hi"}]});
    limited.post("/openai/deployments/gpt-test/chat/completions", &fields).refused(404);
    assert!(keyed.heard().is_empty());
    keyed.script([Turn::text("hello")]);
    limited.post("/openai/deployments/small/chat/completions", &fields).ok();
}

/// As the clients made for Azure send it.
#[test]
fn a_key_may_come_as_api_key_and_goes_no_further() {
    let keyed = Keyed::start("responses");
    keyed.script([Turn::text("hello")]);
    let (_, client) = keyed.make(json!({}));
    let ask = |key: &str| {
        let lines = format!("content-type: application/json\r\napi-key: {key}\r\n");
        let body = json!({"messages": [{"role": "user", "content": "hi"}]}).to_string();
        keyed.with_key("").without_authorization(
            "POST",
            "/openai/deployments/gpt-test/chat/completions?api-version=1",
            &lines,
            body.as_bytes(),
        )
    };
    ask("sg-wrong").refused(401);
    ask(&client.key).ok();
    let heard = keyed.heard();
    assert_eq!(heard.len(), 1);
    assert_eq!(heard[0].headers["authorization"], format!("Bearer {UPSTREAM}"));
    assert!(!format!("{heard:?}").contains(&client.key));
}

#[test]
fn probes_by_the_names_of_litellm_need_no_key_and_tell_what_health_tells() {
    let keyed = Keyed::start("responses");
    let nobody = keyed.with_key("");
    let health = nobody.get("/health").ok();
    for path in ["/health/liveliness", "/health/liveness", "/health/readiness"] {
        assert_eq!(nobody.get(path).ok(), health, "{path}");
        assert_eq!(nobody.post(path, &json!({})).status, 405, "{path}");
    }
    for path in ["/health/backends", "/health/readiness/x", "/health/x"] {
        nobody.get(path).refused(401);
    }
    assert_eq!(keyed.with_key(MASTER).get("/health/readiness").ok(), health);
}

/// Those of other doors are not touched by it.
#[test]
fn other_doors_keep_their_paths() {
    let world = World::with("responses", "");
    let client: Client = world.client([]);
    client.get("/sandboxes").ok();
    client.get("/v1/sandboxes").ok();
    client.get("/e2b/v2/sandboxes");
    assert_eq!(client.get("/metrics").status, 200);
    assert!(world.asked(&client).is_empty());
}
