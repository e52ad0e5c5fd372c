//! Requests that cannot be served: each is refused in the protocol's own form, with the right status and
//! words that help, before anything is paid for.

use sandgate_testkit::Turn;
use serde_json::{Value, json};

use crate::common::{Answer, Client, World, code_tool, container_of, world};

/// A client whose model has something to say, so that a refusal is the server's.
fn client() -> Client {
    world().client([Turn::text("never asked")])
}

/// Refused before the model was asked.
#[track_caller]
fn refused_early(client: &Client, answer: &Answer, status: u16) -> Value {
    let error = answer.refused(status);
    assert!(world().asked(client).is_empty(), "the model was asked");
    error
}

#[track_caller]
fn refusal(fields: Value, status: u16) -> Value {
    let client = client();
    let whole = refused_early(&client, &client.create(fields.clone()), status);
    let streamed = refused_early(&client, &client.create_stream(fields), status);
    assert_eq!(whole, streamed);
    whole
}

#[test]
fn json_that_is_none() {
    let client = client();
    let bodies: [&[u8]; 6] = [
        b"{\"model\": \"m\", \"tools\": [{\"type\": \"code_interpreter\"",
        b"code_interpreter",
        b"{\"model\": \"m\", \"tools\": [{\"type\": \"code_interpreter\"}],}",
        b"{\"input\": \"\xff\xfe code_interpreter\"}",
        b"{\"input\": \"code_interpreter \\ud800\"}",
        &nested(2000),
    ];
    for body in bodies {
        let error = refused_early(&client, &client.raw("POST", "/v1/responses", body), 400);
        assert!(
            error["message"].as_str().unwrap().starts_with("We could not parse the JSON body"),
            "{error}"
        );
        assert_eq!(error["type"], "invalid_request_error");
    }
}

fn nested(depth: usize) -> Vec<u8> {
    let open = "[".repeat(depth);
    let close = "]".repeat(depth);
    format!("{{\"model\": \"code_interpreter\", \"input\": {open}{close}}}").into_bytes()
}

#[test]
fn a_body_that_is_no_object() {
    let client = client();
    for body in ["[\"code_interpreter\"]", "\"code_interpreter\""] {
        let error = refused_early(&client, &client.raw("POST", "/v1/responses", body.as_bytes()), 400);
        assert!(error["message"].as_str().unwrap().contains("must be a JSON object"), "{error}");
    }
    for target in ["/v1/containers", "/v1/conversations"] {
        client.raw("POST", target, b"[]").refused(400);
        client.raw("POST", target, b"").refused(400);
    }
}

#[test]
fn a_body_that_is_not_declared_to_be_json() {
    let client = client();
    let body = json!({"model": "m", "input": "go", "tools": code_tool()}).to_string();
    for kind in ["text/plain", "application/x-www-form-urlencoded", "", "multipart/form-data; boundary=x"] {
        let answer = client.typed("POST", "/v1/responses", kind, body.as_bytes());
        let error = refused_early(&client, &answer, 415);
        assert!(error["message"].as_str().unwrap().contains("application/json"), "{error}");
    }
}

#[test]
fn a_tool_without_its_container() {
    let error = refusal(json!({"tools": [{"type": "code_interpreter"}]}), 400);
    assert_eq!(error["message"], "Missing required parameter: 'tools[0].container'.");
    assert_eq!(error["param"], "tools[0].container");
    assert_eq!(error["code"], "missing_required_parameter");
}

#[test]
fn a_container_with_fields_nobody_knows() {
    let tools = json!([{"type": "code_interpreter", "container": {"type": "auto", "files": []}}]);
    let error = refusal(json!({"tools": tools}), 400);
    assert_eq!(
        error,
        json!({"message": "Unknown parameter: 'tools[0].container.files'.", "type": "invalid_request_error",
            "param": "tools[0].container.files", "code": "unknown_parameter"})
    );
}

#[test]
fn a_container_that_is_not_there() {
    let ids = ["cntr_0123456789abcdef0123456789abcdef0123456789abcdef", "cntr_x", "", "../../etc", "résumé"];
    for id in ids {
        let tools = json!([{"type": "code_interpreter", "container": id}]);
        let error = refusal(json!({"tools": tools}), 404);
        assert_eq!(error["message"], format!("Container with id '{id}' not found."));
        assert_eq!((&error["param"], &error["code"]), (&Value::Null, &Value::Null));
    }
}

#[test]
fn a_container_that_was_deleted() {
    let client = world().client([Turn::code("1"), Turn::text("1"), Turn::text("never asked")]);
    let id = container_of(&client.respond(json!({})));
    assert_eq!(client.delete(&format!("/v1/containers/{id}")).ok()["deleted"], true);
    let tools = json!([{"type": "code_interpreter", "container": id}]);
    let error = client.create(json!({"tools": tools})).refused(404);
    assert_eq!(error["message"], format!("Container with id '{id}' not found."));
    assert_eq!(world().asked(&client).len(), 2);
    client.get(&format!("/v1/containers/{id}")).refused(404);
    client.get(&format!("/v1/containers/{id}/files")).refused(404);
    client.delete(&format!("/v1/containers/{id}")).refused(404);
}

#[test]
fn a_file_that_is_not_there() {
    let tools =
        json!([{"type": "code_interpreter", "container": {"type": "auto", "file_ids": ["file-none"]}}]);
    let error = refusal(json!({"tools": tools}), 400);
    assert!(error["message"].as_str().unwrap().contains("'file-none' not found"), "{error}");
    assert_eq!(error["param"], "tools[0].container.file_ids[0]");
}

#[test]
fn fields_of_the_wrong_type() {
    let auto = |field: &str, value: Value| {
        let mut container = json!({"type": "auto"});
        container[field] = value;
        json!({"tools": [{"type": "code_interpreter", "container": container}]})
    };
    let wrong = [
        (json!({"tools": "code_interpreter"}), "tools"),
        (json!({"tools": [{"type": "code_interpreter", "container": 7}]}), "tools[0].container"),
        (
            json!({"tools": [{"type": "code_interpreter", "container": {"type": "manual"}}]}),
            "tools[0].container.type",
        ),
        (json!({"tools": [{"type": "code_interpreter", "container": {}}]}), "tools[0].container.type"),
        (auto("file_ids", json!("file-x")), "tools[0].container.file_ids"),
        (auto("file_ids", json!([1])), "tools[0].container.file_ids[0]"),
        (auto("file_ids", json!(vec!["file-x"; 51])), "tools[0].container.file_ids"),
        (auto("memory_limit", json!("2g")), "tools[0].container.memory_limit"),
        (auto("memory_limit", json!("64g")), "tools[0].container.memory_limit"),
        (auto("network_policy", json!({"type": "open"})), "tools[0].container.network_policy.type"),
        (json!({"tools": [code_tool()[0], code_tool()[0]]}), "tools[1]"),
        (json!({"input": 7}), "input"),
        (json!({"background": "yes"}), "background"),
        (json!({"store": 1}), "store"),
        (json!({"include": "code_interpreter_call.outputs"}), "include"),
        (json!({"include": [5]}), "include[0]"),
        (json!({"previous_response_id": 5}), "previous_response_id"),
        (json!({"conversation": []}), "conversation"),
        (json!({"conversation": {}}), "conversation.id"),
        (json!({"max_tool_calls": "3"}), "max_tool_calls"),
        (json!({"max_tool_calls": -1}), "max_tool_calls"),
        (json!({"max_output_tokens": 1.5}), "max_output_tokens"),
        (json!({"background": true, "store": false}), "background"),
    ];
    for (fields, param) in wrong {
        let error = refusal(fields, 400);
        assert_eq!(error["param"], param, "{error}");
        assert_eq!(error["type"], "invalid_request_error");
        let message = error["message"].as_str().unwrap();
        assert!(!message.contains("expected an integer, but got an integer"), "{message}");
    }
    let client = client();
    let error = client.create(json!({"stream": "yes"})).refused(400);
    assert_eq!(error["param"], "stream");
    let error = client.post("/v1/responses", &json!({"input": "go", "tools": code_tool()})).refused(400);
    assert_eq!(error["message"], "Missing required parameter: 'model'.");
    assert!(world().asked(&client).is_empty());
}

/// What is wrong with the rest of a request is for the upstream to say, in its own words and status.
#[test]
fn tools_and_items_that_nobody_knows() {
    let wrong = [
        json!({"tools": [code_tool()[0], {"type": "time_machine"}]}),
        json!({"tools": [code_tool()[0], 5]}),
        json!({"input": [5]}),
        json!({"input": [{"type": "telepathy"}]}),
        json!({"temperature": "hot"}),
    ];
    for fields in wrong {
        for stream in [false, true] {
            let client = client();
            let mut fields = fields.clone();
            fields["stream"] = json!(stream);
            let error = client.create(fields).refused(400);
            assert_eq!(error["code"], "schema_violation", "{error}");
            assert_eq!(client.get("/v1/containers").ok()["data"], json!([]));
        }
    }
}

#[test]
fn files_that_are_too_large() {
    let world = World::with("responses", "gate: {max_upload_bytes: 100000, max_body_bytes: 200000}");
    let client = world.client([Turn::code("1"), Turn::text("1")]);
    let (fits, more) = (vec![b'x'; 100_000], vec![b'x'; 100_001]);
    client.upload("/v1/files", "fits.bin", &fits);
    let error = client.try_upload("/v1/files", "more.bin", &more).refused(413);
    assert!(error["message"].as_str().unwrap().contains("97.6 KiB"), "{error}");
    assert_eq!(client.get("/v1/files").ok()["data"].as_array().unwrap().len(), 1);
    let files = format!("/v1/containers/{}/files", container_of(&client.respond(json!({}))));
    client.upload(&files, "fits.bin", &fits);
    client.try_upload(&files, "more.bin", &more).refused(413);
    client.try_upload(&files, "much.bin", &vec![b'x'; 5_000_000]).refused(413);
    assert_eq!(client.get(&files).ok()["data"].as_array().unwrap().len(), 1);
    client.create(json!({"input": "x".repeat(300_000)})).refused(413);
    assert_eq!(world.asked(&client).len(), 2);
}

#[test]
fn paths_and_methods_that_are_not_there() {
    let client = client();
    client.get("/v1/nothing").refused(404);
    client.get("/v1/responses").refused(405);
    client.delete("/v1/containers").refused(405);
    for target in
        ["/v1/containers/%ff", "/v1/files/%00", "/v1/conversations/..%2f..", "/v1/containers/x/files/y"]
    {
        client.get(target).refused(404);
    }
    for target in
        ["/v1/containers?limit=0", "/v1/containers?limit=x", "/v1/files?order=up", "/v1/files?after=none"]
    {
        client.get(target).refused(400);
    }
}
