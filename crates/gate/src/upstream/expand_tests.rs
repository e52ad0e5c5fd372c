//! A whole response as the stream it would have been.

use serde_json::{Value, json};

use super::expand;
use crate::upstream::compose::{Object, response_to};
use crate::upstream::test_schemas::check_events;

fn events_of(response: &Value) -> Vec<Value> {
    expand(response.as_object().unwrap().clone()).unwrap()
}

/// A recorded stream's payloads, its deltas joined into one and without their padding.
fn recorded(text: &str) -> Vec<Value> {
    let mut events: Vec<Value> = Vec::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("data: ")) {
        let mut event: Value = serde_json::from_str(line).unwrap();
        event.as_object_mut().unwrap().remove("obfuscation");
        match events.last_mut() {
            Some(last) if event.get("delta").is_some() && last["type"] == event["type"] => {
                let joined =
                    format!("{}{}", last["delta"].as_str().unwrap(), event["delta"].as_str().unwrap());
                last["delta"] = joined.into();
            }
            _ => events.push(event),
        }
    }
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = number.into();
    }
    events
}

#[test]
fn a_whole_response_becomes_the_stream_that_was_recorded() {
    // Code calls have events of their own, which no upstream of ours sends: they are left out here.
    let traces = [
        (
            include_str!("../../../testkit/traces/1_one_call.response.json"),
            include_str!("../../../testkit/traces/1_one_call.sse"),
        ),
        (
            include_str!("../../../testkit/traces/5_file_output_with_citation.response.json"),
            include_str!("../../../testkit/traces/5_file_output_with_citation.sse"),
        ),
    ];
    for (whole, stream) in traces {
        let code_event = |event: &Value| {
            event["type"].as_str().unwrap().contains("code_interpreter")
                || event["item"]["type"] == "code_interpreter_call"
        };
        let mut expected = recorded(stream);
        expected.retain(|event| !code_event(event));
        let mut made = events_of(&serde_json::from_str(whole).unwrap());
        made.retain(|event| !code_event(event));
        for event in expected.iter_mut().chain(&mut made) {
            let event = event.as_object_mut().unwrap();
            event.remove("sequence_number");
            // The tier that was used is known only in the end.
            if let Some(response) = event.get_mut("response") {
                response["service_tier"] = Value::Null;
            }
        }
        assert_eq!(made, expected);
    }
}

#[test]
fn numbers_rise_by_one_and_items_by_index() {
    let output = json!([
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "why"}], "content": [{"type": "reasoning_text", "text": "because"}], "encrypted_content": "x"},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}", "status": "completed"},
        {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_2", "name": "c", "input": "text"},
        {"type": "message", "id": "msg_1", "role": "assistant", "phase": "final_answer", "status": "completed", "content": [{"type": "refusal", "refusal": "no"}]},
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}},
    ]);
    let mut response = Value::Object(response_to(&Object::new(), Some("m")));
    response["status"] = "incomplete".into();
    response["incomplete_details"] = json!({"reason": "max_output_tokens"});
    response["output"] = output;
    let events = events_of(&response);
    check_events(&events);
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.reasoning_summary_part.added",
            "response.reasoning_summary_text.delta",
            "response.reasoning_summary_text.done",
            "response.reasoning_summary_part.done",
            "response.content_part.added",
            "response.reasoning_text.delta",
            "response.reasoning_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.custom_tool_call_input.delta",
            "response.custom_tool_call_input.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.content_part.added",
            "response.refusal.delta",
            "response.refusal.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.output_item.done",
            "response.incomplete",
        ]
    );
    assert_eq!(events[0]["response"]["usage"], Value::Null);
    assert_eq!(events.last().unwrap()["response"], response);
    assert_eq!(events[12]["item"]["arguments"], "");
    assert_eq!(events[12]["item"]["status"], "in_progress");
    assert_eq!(events[16]["item"].get("status"), None, "what the item does not have is not made up");
    assert_eq!(events[20]["item"]["phase"], "final_answer");
    assert_eq!(events[27]["output_index"], 4);
}

#[test]
fn an_item_without_an_id_gets_one_that_stays() {
    let message = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi", "annotations": []}]});
    let events = events_of(&json!({"id": "r", "status": "completed", "output": [message]}));
    let id = &events[2]["item"]["id"];
    assert!(id.as_str().unwrap().starts_with("msg_"));
    assert_eq!(&events[4]["item_id"], id);
    assert_eq!(&events.last().unwrap()["response"]["output"][0]["id"], id);
}

#[test]
fn what_is_not_a_finished_response_is_refused() {
    for whole in [
        json!({"status": "queued", "output": []}),
        json!({"error": {"message": "no"}}),
        json!({"status": "completed", "output": ["text"]}),
    ] {
        assert!(expand(whole.as_object().unwrap().clone()).is_err(), "{whole}");
    }
}
