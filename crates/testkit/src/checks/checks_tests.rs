//! Tests of the schema checks: the reference traces pass, and what is not whitelisted fails.

use serde_json::{Value, json};

use super::*;
use crate::traces::TRACES;

fn response() -> Value {
    TRACES[0].response().unwrap()
}

#[test]
fn all_six_traces_pass() {
    for trace in TRACES {
        Schemas::check_response(&trace.response().unwrap()).unwrap();
        Schemas::check("CreateResponse", &trace.request().unwrap()).unwrap();
        for event in trace.events().unwrap() {
            Schemas::check_event(&event).unwrap();
        }
    }
}

#[test]
fn every_event_type_of_the_schema_is_known() {
    assert!(BUNDLE.event_schema("response.shell_call_output_content.done").is_some());
    assert!(BUNDLE.event_schema("error").is_some());
    assert_eq!(
        Schemas::check_event(&json!({"type": "response.made_up"})).unwrap_err(),
        "there is no event of type \"response.made_up\""
    );
}

#[test]
fn every_schema_of_the_bundle_can_be_used() {
    for name in [
        "CreateChatCompletionRequest",
        "CreateChatCompletionResponse",
        "CreateChatCompletionStreamResponse",
        "ContainerResource",
        "ContainerListResource",
        "ContainerFileResource",
        "ContainerFileListResource",
        "CreateContainerBody",
        "ResponseItemList",
        "ConversationResource",
        "ConversationItemList",
        "ErrorResponse",
    ] {
        let message = Schemas::check(name, &json!(7)).unwrap_err();
        assert!(message.starts_with(&format!("not a {name}")), "{message}");
    }
    assert!(Schemas::check("Nonsense", &json!({})).is_err());
}

#[test]
fn deviations_of_real_traffic_pass() {
    let mut old = response();
    old["usage"]["input_tokens_details"].as_object_mut().unwrap().shift_remove("cache_write_tokens");
    assert_eq!(old["user"], Value::Null);
    Schemas::check_response(&old).unwrap();

    let mut failed = response();
    failed["status"] = json!("failed");
    failed["usage"] = Value::Null;
    failed["error"] = json!({"code": "insufficient_quota", "message": "no"});
    Schemas::check_event(&json!({"type": "response.failed", "sequence_number": 1, "response": failed}))
        .unwrap();

    Schemas::check_event(&json!({"type": "error", "sequence_number": 1,
        "error": {"type": "x", "code": null, "message": "m", "param": null}}))
    .unwrap();
    Schemas::check_event(&json!({"type": "response.function_call_arguments.done", "sequence_number": 1,
        "item_id": "fc_1", "output_index": 0, "arguments": "{}"}))
    .unwrap();
    Schemas::check_event(&json!({"type": "response.apply_patch_call_operation_diff.done"})).unwrap();
    let file = json!({"id": "file-1", "object": "file", "bytes": 1, "created_at": 1, "expires_at": null,
        "filename": "a", "purpose": "assistants", "status": "processed", "status_details": null});
    Schemas::check("OpenAIFile", &file).unwrap();
    Schemas::check(
        "ListFilesResponse",
        &json!({"object": "list", "data": [file], "first_id": "a", "last_id": "a", "has_more": false}),
    )
    .unwrap();
}

#[test]
fn other_deviations_fail_and_the_place_is_named() {
    let mut wrong = response();
    wrong["usage"] = Value::Null;
    assert!(Schemas::check_response(&wrong).is_err());

    let mut wrong = response();
    wrong["error"] = json!({"code": "insufficient_quota", "message": "no"});
    assert!(Schemas::check_response(&wrong).is_err());

    let mut wrong = response();
    wrong["output"][1]["outputs"] = json!([{"type": "error", "text": "x"}]);
    let message = Schemas::check_response(&wrong).unwrap_err();
    assert!(message.contains("/output/1/outputs"), "{message}");

    let mut wrong = response();
    wrong["output"][1].as_object_mut().unwrap().shift_remove("container_id");
    let message = Schemas::check_response(&wrong).unwrap_err();
    assert!(message.contains("/output/1") && message.contains("container_id"), "{message}");

    let event = json!({"type": "response.output_text.delta", "sequence_number": 1, "item_id": "m",
        "output_index": 0, "content_index": 0, "delta": "x"});
    let message = Schemas::check_event(&event).unwrap_err();
    assert!(message.contains("logprobs"), "{message}");
}
