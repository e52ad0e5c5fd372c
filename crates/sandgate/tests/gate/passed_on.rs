//! What is passed on to an upstream: which of several keeps it, calls that only the upstream can answer, and what
//! must not reach it.

use std::collections::BTreeMap;

use sandgate_testkit::{HttpAnswer, ScriptedModel, Turn};
use serde_json::{Value, json};

use crate::common::{Client, Keyed, MASTER, UPSTREAM, World, another_model, code_tool, world};

/// What the upstream says to a request for this path.
fn at(path: &str, body: Value) -> Turn {
    let http = HttpAnswer { status: 200, headers: BTreeMap::new(), body: Some(body) };
    Turn { http: Some(http), path: Some(path.to_owned()), ..Turn::default() }
}

/// A passed response under an id as other servers have them.
fn named(id: &str) -> Turn {
    Turn { response: json!({"id": id}).as_object().unwrap().clone(), ..Turn::text("passed") }
}

fn plain(model: &str) -> Value {
    json!({"model": model, "input": "hello"})
}

fn paths(model: &ScriptedModel, key: &str) -> Vec<String> {
    model.requests(key).into_iter().map(|asked| format!("{} {}", asked.method, asked.path)).collect()
}

const LONG: &str =
    "resp_bGl0ZWxsbTpjdXN0b21fbGxtX3Byb3ZpZGVyOm9wZW5haTttb2RlbF9pZDo1MDVlNDU2NDI0ZTllYTcyNTQz";

fn of_two(url: &str, other: &ScriptedModel, more: &str) -> String {
    let other = other.base_url();
    format!(
        "pool: 1\n{more}upstreams:\n  one: {{url: '{url}', key: {UPSTREAM}}}\n  \
         two: {{url: '{other}', key: {UPSTREAM}}}\nmodels:\n- {{name: a, upstream: one}}\n\
         - {{name: b, upstream: two, model: b-there}}\n"
    )
}

/// Whole and streamed, under ids of every kind: looked at, gone on from and deleted where it is.
fn is_found_where_it_is(world: &World, other: &ScriptedModel, client: &Client) {
    let ids = ["5f1c9a0e-1b1e-4c52-9f0c-0a4f", "resp_short", &LONG.repeat(5)];
    for (model, server) in [("a", &world.model), ("b", other)] {
        for (number, id) in ids.iter().enumerate() {
            let id = format!("{model}-{id}");
            let path = format!("/v1/responses/{id}");
            let there = if model == "b" { "b-there" } else { "a" };
            let kept = json!({"id": id, "object": "response", "model": there});
            let gone = json!({"id": id, "object": "response", "deleted": true});
            let on = Turn { foreign: true, ..Turn::text("on") };
            let asks =
                [named(&id), at(&path, kept), on, at(&format!("{path}/cancel"), json!({})), at(&path, gone)];
            server.script(UPSTREAM, asks);
            let before = paths(server, UPSTREAM).len();
            let mut fields = plain(model);
            fields["stream"] = json!(number == 1);
            let answer = client.post("/v1/responses", &fields);
            assert!(answer.status == 200 && answer.text().contains(&id), "{}", answer.text());
            let shown = client.get(&path).ok();
            assert_eq!((&shown["id"], &shown["model"]), (&json!(id), &json!(model)));
            let mut fields = plain(model);
            fields["previous_response_id"] = json!(id);
            client.post("/v1/responses", &fields).ok();
            client.post(&format!("{path}/cancel"), &json!({})).ok();
            assert_eq!(client.delete(&path).ok()["deleted"], true);
            let get = format!("GET {path}");
            let wanted = ["POST /v1/responses", &get, "POST /v1/responses", &format!("POST {path}/cancel")];
            let heard = paths(server, UPSTREAM).split_off(before);
            assert_eq!(heard[..4], wanted);
            assert_eq!(heard[4..], [format!("DELETE {path}")]);
        }
    }
}

#[test]
fn of_several_upstreams_the_one_that_keeps_a_response_is_asked_about_it() {
    let other = another_model();
    let world = World::configured(|url| of_two(url, &other, ""));
    let client = world.client([]);
    is_found_where_it_is(&world, &other, &client);
    // One that was not passed on from here may be anywhere.
    client.get("/v1/responses/resp_unknown").refused(404);
}

#[test]
fn with_keys_too_and_it_is_nobody_elses() {
    let other = another_model();
    let mut world = World::configured(|url| of_two(url, &other, &format!("master_key: {MASTER}\n")));
    let master = Client { key: MASTER.to_owned(), ..world.client([]) };
    is_found_where_it_is(&world, &other, &master);
    let made = master.post("/v1/admin/keys", &json!({"name": "ann"})).ok();
    let ann = Client { key: made["key"].as_str().unwrap().to_owned(), ..master };
    let id = "b-late-id";
    // An id far behind everything else.
    let body = json!({"object": "response", "instructions": "long ".repeat(40_000), "output": [{"id": "msg_1"}], "id": id});
    other.script(UPSTREAM, [Turn::http(200, body), at(&format!("/v1/responses/{id}"), json!({"id": id}))]);
    ann.post("/v1/responses", &plain("b")).ok();
    master.get(&format!("/v1/responses/{id}")).refused(404);
    let mut fields = plain("b");
    fields["previous_response_id"] = json!(id);
    master.post("/v1/responses", &fields).refused(400);
    // It is known after a restart, too.
    world.crash_and_restart();
    assert_eq!(world.again(&ann).get(&format!("/v1/responses/{id}")).ok()["id"], id);
}

const COUNT: &str = "/v1/responses/input_tokens";
const COMPACT: &str = "/v1/responses/compact";

#[test]
fn counting_and_compacting_take_what_is_not_ours_as_it_is() {
    let client = world().client([Turn::text("passed")]);
    let id = client.post("/v1/responses", &plain("gpt-test")).ok()["id"].clone();
    for path in [COUNT, COMPACT] {
        for fields in [
            json!({"model": "gpt-test", "input": "what is a code_interpreter?"}),
            json!({"model": "gpt-test", "input": "x", "previous_response_id": id}),
            json!({"model": "gpt-test", "input": [{"role": "user", "content": [{"type": "input_file", "file_id": "file-theirs"}]}]}),
        ] {
            world().model.script(&client.key, [at(path, json!({"object": "fine"}))]);
            assert_eq!(client.post(path, &fields).ok()["object"], "fine");
            assert_eq!(world().asked(&client).last().unwrap().text, fields.to_string());
        }
    }
}

#[test]
fn counting_and_compacting_see_what_is_kept_here() {
    let client = world().client([Turn::code("print(6*7)"), Turn::text("It is 42.")]);
    let response = client.respond(json!({"input": "What is 6*7?"}));
    let conversation = client
        .post("/v1/conversations", &json!({"items": [{"role": "user", "content": "Remember 7."}]}))
        .ok();
    for path in [COUNT, COMPACT] {
        world()
            .model
            .script(&client.key, [at(path, json!({"object": "fine"})), at(path, json!({"object": "fine"}))]);
        let fields = json!({"model": "gpt-test", "input": "And now?", "previous_response_id": response["id"], "tools": code_tool()});
        client.post(path, &fields).ok();
        let sent = world().asked(&client).pop().unwrap().body;
        let kinds: Vec<&str> = sent["input"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["type"].as_str().unwrap_or("message"))
            .collect();
        assert_eq!(
            kinds,
            ["message", "function_call", "function_call_output", "message", "message"],
            "{sent}"
        );
        assert!(sent.to_string().contains("42") && sent.get("previous_response_id").is_none(), "{sent}");
        assert_eq!(
            (&sent["tools"][0]["type"], &sent["tools"][0]["name"]),
            (&json!("function"), &json!("python"))
        );
        let fields = json!({"model": "gpt-test", "input": "Which?", "conversation": conversation["id"]});
        client.post(path, &fields).ok();
        let sent = world().asked(&client).pop().unwrap().body;
        assert!(sent.to_string().contains("Remember 7.") && sent.get("conversation").is_none(), "{sent}");
        let stranger = client.stranger();
        stranger.post(path, &fields).refused(404);
    }
}

#[test]
fn no_tool_that_would_run_at_the_upstream_gets_there() {
    let client = world().client([]);
    let code = json!({"type": "code_interpreter", "container": {"type": "auto"}});
    let brought = |kind: &str| json!([{"type": kind, "role": "developer", "tools": [code]}]);
    let shell = |environment: Value| json!([{"type": "shell", "environment": environment}]);
    let hosted = [
        (json!({"input": brought("additional_tools")}), "input[0].tools[0]"),
        (json!({"input": brought("additional_tools"), "tools": code_tool()}), "input[0].tools[0]"),
        (json!({"input": brought("tool_search_output")}), "input[0].tools[0]"),
        (json!({"input": "x", "tools": shell(json!({"type": "container_auto"}))}), "tools[0].environment"),
        (
            json!({"input": "x", "tools": shell(json!({"type": "container_reference", "container_id": "cntr_1"}))}),
            "tools[0].environment",
        ),
    ];
    for (mut fields, place) in hosted {
        fields["model"] = json!("gpt-test");
        for path in ["/v1/responses", "/responses", COUNT] {
            let error = client.post(path, &fields).refused(400);
            assert_eq!(error["param"], place, "{error}");
        }
    }
    let items = json!({"items": brought("additional_tools")});
    assert_eq!(client.post("/v1/conversations", &items).refused(400)["param"], "items[0].tools[0]");
    let conversation = client.post("/v1/conversations", &json!({})).ok();
    let path = format!("/v1/conversations/{}/items", conversation["id"].as_str().unwrap());
    client.post(&path, &items).refused(400);
    assert!(world().asked(&client).is_empty());
    // A shell of the client's own is the client's own affair.
    for tools in [shell(json!({"type": "local"})), json!([{"type": "shell"}])] {
        world().model.script(&client.key, [Turn::text("passed")]);
        client.post("/v1/responses", &json!({"model": "gpt-test", "input": "x", "tools": tools})).ok();
    }
}

#[test]
fn no_way_of_writing_hides_the_tool_from_the_gate() {
    let client = world().client([]);
    let code = r#"[{"type":"code_interpreter","container":{"type":"auto"}}]"#;
    let escaped = code.replace("code_", "\\u0063ode_");
    let odd = r#"[{"type":"code_interpreter","type":"function","name":"f","parameters":{}}]"#;
    for fields in [
        format!(r#""tools":{code},"tools":[]"#),
        format!(r#""tools":[],"tools":{code}"#),
        format!(r#""Tools":{code}"#),
        format!(r#""Tools":{escaped}"#),
        format!(r#""tool\u017f":{code}"#),
        format!(r#""tools":{code},"TOOLS":[]"#),
        format!(r#""tools":{odd}"#),
        r#""previous_response_id":"resp_theirs","previous_response_id":null"#.to_owned(),
        r#""Previous_Response_Id":"resp_theirs""#.to_owned(),
        r#""conversation":"conv_theirs","conversation":null"#.to_owned(),
        r#""input":"y""#.to_owned(),
    ] {
        let body = format!(r#"{{"model":"gpt-test","input":"x",{fields}}}"#);
        for path in ["/v1/responses", COUNT, COMPACT] {
            client.raw("POST", path, body.as_bytes()).refused(400);
        }
    }
    for fields in
        [format!(r#""tools":{code},"tools":[]"#), format!(r#""Tools":{code}"#), r#""messages":[]"#.to_owned()]
    {
        let body = format!(r#"{{"model":"gpt-test","messages":[{{"role":"user","content":"x"}}],{fields}}}"#);
        client.raw("POST", "/v1/chat/completions", body.as_bytes()).refused(400);
    }
    let body = format!(r#"{{"model":"gpt-test","input":"x","tools":{code}}}"#);
    let wide: Vec<u8> = body.encode_utf16().flat_map(u16::to_le_bytes).collect();
    client.raw("POST", "/v1/responses", &wide).refused(400);
    assert!(world().asked(&client).is_empty());
}

/// On gated and passed answers, whole and streamed.
#[test]
fn the_operators_account_is_told_to_no_client() {
    let headers = || {
        let names = ["openai-organization", "openai-project", "openai-version"];
        names.map(|name| (name.to_owned(), "the-operators".to_owned())).into_iter().collect()
    };
    let turn = || Turn {
        http: Some(HttpAnswer { status: 200, headers: headers(), body: None }),
        ..Turn::text("hi")
    };
    let keyed = Keyed::start("responses");
    let (_, ann) = keyed.make(json!({}));
    keyed.script(vec![turn(); 5]);
    let chat = json!({"model": "gpt-test", "messages": [{"role": "user", "content": "hi"}]});
    let answers = [
        ann.create(json!({})),
        ann.create(json!({"stream": true})),
        ann.post("/v1/responses", &plain("gpt-test")),
        ann.post("/v1/chat/completions", &chat),
        ann.post("/v1/chat/completions", &{
            let mut chat = chat.clone();
            chat["tools"] = json!([{"type": "code_interpreter"}]);
            chat
        }),
    ];
    for answer in answers {
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert!(answer.head.contains("openai-version: the-operators"), "{}", answer.head);
        assert!(!answer.head.contains("openai-organization") && !answer.head.contains("openai-project"));
    }
    // A client that pays by itself is told of its own account.
    let client = world().client([turn()]);
    let answer = client.post("/v1/responses", &plain("gpt-test"));
    assert!(answer.head.contains("openai-organization: the-operators"), "{}", answer.head);
}
