//! The twenty rules that decide whether a client can tell us from the original, one test each.

use sandgate_testkit::{Item, Turn};
use serde_json::{Value, json};

use crate::common::{Client, OUTPUTS, code_tool, container_of, items, kinds, world};

const FIGURE: &str = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()";

fn two_rounds() -> Vec<Turn> {
    vec![
        Turn::of([Item::reasoning(), Item::code("x = 20 + 1\nprint(x)")]),
        Turn::of([Item::reasoning(), Item::code("x * 2")]),
        Turn::text("42"),
    ]
}

fn of_kind<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}

#[test]
fn rule_01_one_response_id_for_the_whole_loop() {
    let events = world().client(two_rounds()).stream(json!({}));
    let ids: Vec<&Value> =
        events.iter().filter_map(|event| event.get("response")).map(|r| &r["id"]).collect();
    assert_eq!(ids.len(), 3);
    assert!(ids.iter().all(|id| *id == ids[0]) && ids[0].as_str().unwrap().starts_with("resp_"), "{ids:?}");
}

#[test]
fn rule_02_output_index_and_sequence_number_count_over_the_whole_loop() {
    let events = world().client(two_rounds()).stream(json!({}));
    let added: Vec<u64> = of_kind(&events, "response.output_item.added")
        .iter()
        .map(|event| event["output_index"].as_u64().unwrap())
        .collect();
    assert_eq!(added, [0, 1, 2, 3, 4]);
    let numbers: Vec<u64> = events.iter().map(|event| event["sequence_number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>());
}

#[test]
fn rule_03_item_ids_are_final_when_an_item_is_added() {
    let events = world().client(two_rounds()).stream(json!({}));
    let mut ids: Vec<Option<String>> = Vec::new();
    for event in &events {
        let Some(index) = event["output_index"].as_u64() else { continue };
        let id = event["item"]["id"].as_str().or(event["item_id"].as_str()).unwrap().to_owned();
        if event["type"] == "response.output_item.added" {
            assert!(!ids.contains(&Some(id.clone())), "twice: {id}");
            ids.push(Some(id));
        } else {
            assert_eq!(ids[usize::try_from(index).unwrap()], Some(id), "{event}");
        }
    }
}

#[test]
fn rule_04_a_code_call_begins_empty_in_a_known_container() {
    let events = world().client(two_rounds()).stream(json!({}));
    let added = of_kind(&events, "response.output_item.added");
    let item = &added.iter().find(|event| event["item"]["type"] == "code_interpreter_call").unwrap()["item"];
    assert_eq!((&item["status"], &item["code"]), (&json!("in_progress"), &json!("")));
    assert!(item["container_id"].as_str().unwrap().starts_with("cntr_"));
    assert_eq!(item["outputs"], Value::Null);
    let first_delta =
        events.iter().position(|event| event["type"] == "response.code_interpreter_call_code.delta");
    let first_added = events.iter().position(|event| event["item"]["container_id"].is_string());
    assert!(first_added < first_delta);
}

#[test]
fn rule_05_the_outputs_key_is_always_there() {
    let hidden = world().client(two_rounds()).respond(json!({}));
    for call in items(&hidden, "code_interpreter_call") {
        assert!(call.as_object().unwrap().contains_key("outputs") && call["outputs"].is_null());
    }
    let client = world().client(two_rounds());
    let events = client.stream(json!({"include": [OUTPUTS]}));
    let calls: Vec<&Value> =
        events.iter().map(|event| &event["item"]).filter(|i| i["code"].is_string()).collect();
    assert_eq!(calls[0]["outputs"], json!([]));
    assert_eq!(calls[1]["outputs"], json!([{"type": "logs", "logs": "21\n"}]));
    assert_eq!(calls[3]["outputs"], json!([{"type": "logs", "logs": "42"}]));
}

#[test]
fn rule_06_outputs_are_logs_and_images_only() {
    let code = format!(
        "print('a')\nimport sys; print('b', file=sys.stderr)\n{FIGURE}\nopen('/mnt/data/f', 'w').write('x')"
    );
    let client = world().client([Turn::code(&code), Turn::code("1/0"), Turn::text("done")]);
    let response = client.respond(json!({"include": [OUTPUTS]}));
    let calls = items(&response, "code_interpreter_call");
    let types: Vec<&str> = calls[0]["outputs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|output| output["type"].as_str().unwrap())
        .collect();
    assert_eq!(types, ["logs", "logs", "image", "logs"]);
    assert_eq!(calls[1]["outputs"], json!([]));
}

#[test]
fn rule_07_images_are_data_uris() {
    let response =
        world().client([Turn::code(FIGURE), Turn::text("a line")]).respond(json!({"include": [OUTPUTS]}));
    let url = items(&response, "code_interpreter_call")[0]["outputs"][0]["url"].as_str().unwrap();
    assert!(url.starts_with("data:image/png;base64,iVBORw0KGgo"), "{}", &url[..60]);
}

#[test]
fn rule_08_an_exception_is_no_api_error() {
    let client = world().client([Turn::code("print('before')\nboom"), Turn::text("sorry")]);
    let response = client.respond(json!({"include": [OUTPUTS]}));
    let call = items(&response, "code_interpreter_call")[0];
    assert_eq!(call["status"], "completed");
    assert_eq!(call["outputs"], json!([{"type": "logs", "logs": "before\n"}]));
    let told = &world().bodies(&client)[1]["input"];
    let told = told.as_array().unwrap().last().unwrap()["output"].as_str().unwrap();
    assert!(told.starts_with("before\n") && told.contains("NameError: name 'boom' is not defined"), "{told}");
}

#[test]
fn rule_09_no_events_but_the_known_ones() {
    let code = "import time\nfor n in range(3): print(n, flush=True); time.sleep(0.05)";
    let events = world().client([Turn::code(code), Turn::text("x")]).stream(json!({"include": [OUTPUTS]}));
    let known = [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.code_interpreter_call.in_progress",
        "response.code_interpreter_call_code.delta",
        "response.code_interpreter_call_code.done",
        "response.code_interpreter_call.interpreting",
        "response.code_interpreter_call.completed",
        "response.output_item.done",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.completed",
    ];
    for kind in kinds(&events) {
        assert!(known.contains(&kind), "{kind}");
    }
}

#[test]
fn rule_10_no_done_line_at_the_end() {
    let client = world().client(two_rounds());
    let answer = client
        .post("/v1/responses", &json!({"model": "m", "input": "go", "tools": code_tool(), "stream": true}));
    assert!(!answer.text().contains("[DONE]"));
    assert_eq!(kinds(&answer.events()).last(), Some(&"response.completed"));
}

#[test]
fn rule_11_figures_and_links_are_cited() {
    let code = format!("{FIGURE}\nopen('/mnt/data/ü.csv', 'w').write('1')\n");
    let text = "é: [plot](sandbox:/mnt/data/ü.csv), and sandbox:/mnt/data/none.csv.";
    let client = world().client([Turn::code(&code), Turn::text(text)]);
    let response = client.respond(json!({}));
    let annotations = &items(&response, "message")[0]["content"][0]["annotations"];
    let container = &items(&response, "code_interpreter_call")[0]["container_id"];
    assert_eq!(annotations.as_array().unwrap().len(), 2, "{annotations}");
    let figure = &annotations[0];
    let id = figure["file_id"].as_str().unwrap();
    assert_eq!((&figure["start_index"], &figure["end_index"]), (&json!(0), &json!(0)));
    assert_eq!(figure["filename"], format!("{id}.png"));
    assert!(id.starts_with("cfile_") && id.len() == 38);
    let link = &annotations[1];
    let range = |from: &Value, to: &Value| -> String {
        let (from, to) = (from.as_u64().unwrap(), to.as_u64().unwrap());
        let (from, to) = (usize::try_from(from).unwrap(), usize::try_from(to).unwrap());
        text.chars().skip(from).take(to - from).collect()
    };
    assert_eq!(range(&link["start_index"], &link["end_index"]), "sandbox:/mnt/data/ü.csv");
    assert_eq!((&link["filename"], &link["container_id"]), (&json!("ü.csv"), container));
    for annotation in [figure, link] {
        let (container, file) = (container.as_str().unwrap(), annotation["file_id"].as_str().unwrap());
        let content = client.get(&format!("/v1/containers/{container}/files/{file}/content"));
        assert!(content.status == 200 && !content.body.is_empty(), "{}", content.text());
    }
}

#[test]
fn rule_12_citations_come_between_the_last_delta_and_the_end_of_the_text() {
    let client = world().client([Turn::code(FIGURE), Turn::text("Here it is, as you asked for.")]);
    let events = client.stream(json!({}));
    let kinds = kinds(&events);
    let at = kinds.iter().position(|kind| *kind == "response.output_text.annotation.added").unwrap();
    assert_eq!(kinds[at - 1], "response.output_text.delta");
    assert_eq!(kinds[at + 1], "response.output_text.done");
    let done = of_kind(&events, "response.content_part.done")[0];
    assert_eq!(done["part"]["annotations"][0], events[at]["annotation"]);
}

#[test]
fn rule_13_files_are_mounted_under_their_id_and_name() {
    let client = world().client([Turn::code("import os; sorted(os.listdir('/mnt/data'))"), Turn::text("x")]);
    let file = client.upload("/v1/files", "data.csv", b"a,b\n1,2\n");
    let id = file["id"].as_str().unwrap();
    let tools = json!([{"type": "code_interpreter", "container": {"type": "auto", "file_ids": [id]}}]);
    let response = client.respond(json!({"tools": tools, "include": [OUTPUTS]}));
    let call = items(&response, "code_interpreter_call")[0];
    assert_eq!(call["outputs"][0]["logs"], format!("['{id}-data.csv']"));
    let container = call["container_id"].as_str().unwrap();
    let uploaded = client.upload(&format!("/v1/containers/{container}/files"), "more.csv", b"1");
    let path = uploaded["path"].as_str().unwrap();
    let hex = path.strip_prefix("/mnt/data/").and_then(|rest| rest.strip_suffix("-more.csv")).unwrap();
    assert!(hex.len() == 32 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()), "{path}");
}

#[test]
fn rule_14_auto_reuses_the_container_of_the_conversation() {
    let turns = || [Turn::code("x = 41"), Turn::text("ok"), Turn::code("x + 1"), Turn::text("42")];
    let client = world().client(turns());
    let first = client.respond(json!({}));
    let next = json!({"previous_response_id": first["id"], "include": [OUTPUTS]});
    let second = client.respond(next);
    assert_eq!(container_of(&first), container_of(&second));
    assert_eq!(items(&second, "code_interpreter_call")[0]["outputs"][0]["logs"], "42");

    let client = world().client(turns());
    let conversation = client.post("/v1/conversations", &json!({})).ok()["id"].clone();
    let first = client.respond(json!({"conversation": conversation}));
    let second = client.respond(json!({"conversation": conversation, "include": [OUTPUTS]}));
    assert_eq!(container_of(&first), container_of(&second));
    assert_eq!(second["conversation"]["id"], conversation);
    world().asked(&client);
}

/// The second request of a client that keeps the conversation itself.
fn replay(form: impl Fn(&Value) -> Value, store: bool) {
    let turns = [Turn::code("x = 41\nprint(x)"), Turn::text("ok"), Turn::code("x + 1"), Turn::text("42")];
    let client = world().client(turns);
    let first = client.respond(json!({"store": store}));
    let mut input = vec![json!({"role": "user", "content": "go"})];
    for item in first["output"].as_array().unwrap() {
        let is_call = item["type"] == "code_interpreter_call";
        input.push(if is_call { form(item) } else { item.clone() });
    }
    input.push(json!({"role": "user", "content": "and one more"}));
    let second = client.respond(json!({"input": input, "store": store, "include": [OUTPUTS]}));
    assert_eq!(container_of(&first), container_of(&second));
    assert_eq!(items(&second, "code_interpreter_call")[0]["outputs"][0]["logs"], "42");
    let seen = world().bodies(&client)[2]["input"].clone();
    let told = seen.as_array().unwrap().iter().find(|item| item["type"] == "function_call_output").unwrap();
    assert_eq!(told["output"], "41", "{seen}");
}

#[test]
fn rule_15_replayed_calls_work_in_four_forms() {
    for store in [true, false] {
        replay(Value::clone, store);
        replay(|item| json!({"type": "item_reference", "id": item["id"]}), store);
        replay(
            |item| {
                let mut item = item.clone();
                item.as_object_mut().unwrap().remove("outputs");
                item
            },
            store,
        );
        replay(
            |item| {
                let mut item = item.clone();
                item["outputs"] = json!([{"type": "logs", "logs": "41\n"}]);
                item
            },
            store,
        );
    }
}

#[test]
fn rule_16_container_ids_are_short() {
    let response = world().client(two_rounds()).respond(json!({}));
    let id = container_of(&response);
    assert!(
        id.len() <= 64 && id.starts_with("cntr_") && id[5..].bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{id}"
    );
}

#[test]
fn rule_17_usage_is_one_object_for_all_turns() {
    let one = world().client([Turn::text("hi")]).respond(json!({}));
    let three = world().client(two_rounds()).respond(json!({}));
    let tokens = |response: &Value| response["usage"]["input_tokens"].as_u64().unwrap();
    assert!(tokens(&three) >= 3 * tokens(&one), "{} {}", three["usage"], one["usage"]);
    assert!(three["usage"]["input_tokens_details"]["cache_write_tokens"].is_u64());
}

#[test]
fn rule_18_tools_and_tool_choice_are_echoed_as_sent() {
    let tools = json!([{"type": "code_interpreter", "container": {"type": "auto", "file_ids": []}}]);
    let choice = json!({"type": "code_interpreter"});
    let client = world().client(two_rounds());
    let events = client.stream(json!({"tools": tools, "tool_choice": choice}));
    for response in events.iter().filter_map(|event| event.get("response")) {
        assert_eq!((&response["tools"], &response["tool_choice"]), (&tools, &choice));
    }
    let asked = world().bodies(&client);
    assert_eq!(asked[0]["tool_choice"], json!({"type": "function", "name": "python"}));
}

fn choices_seen(choice: Value) -> Vec<Value> {
    let client: Client = world().client(two_rounds());
    let response = client.respond(json!({"tool_choice": choice}));
    assert_eq!(items(&response, "message").len(), 1);
    world().bodies(&client).iter().map(|body| body["tool_choice"].clone()).collect()
}

#[test]
fn rule_19_a_forced_choice_is_relaxed_after_the_first_call() {
    assert_eq!(choices_seen(json!("required")), [json!("required"), json!("auto"), json!("auto")]);
    let python = json!({"type": "function", "name": "python"});
    assert_eq!(choices_seen(json!({"type": "code_interpreter"})), [python, json!("auto"), json!("auto")]);
}

#[test]
fn rule_20_errors_in_a_stream_are_nested() {
    let failing: Turn = serde_json::from_value(json!({"items": [{"text": "half"}], "status": "failed",
        "error": {"code": "server_error", "message": "out of thoughts"}}))
    .unwrap();
    let events = world().client([Turn::code("1"), failing]).stream(json!({}));
    let [error, failed] = events.last_chunk().unwrap();
    assert_eq!(error["type"], "error");
    assert_eq!(error["error"]["message"], "out of thoughts");
    for key in ["type", "code", "param"] {
        assert!(error["error"].get(key).is_some(), "{error}");
    }
    assert_eq!(failed["type"], "response.failed");
    assert_eq!(failed["response"]["status"], "failed");
    assert_eq!(failed["response"]["error"]["code"], "server_error");
}
