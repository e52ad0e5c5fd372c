//! The events of one output item: added, its pieces, done.

use serde_json::{Map, Value, json};

use crate::events::Events;
use crate::items::Said;

pub(crate) fn stream_item(events: &mut Events, index: usize, said: &Said) {
    let kind = said.item.get("type").and_then(Value::as_str).unwrap_or_default();
    events.push(
        "response.output_item.added",
        json!({"output_index": index, "item": opening(kind, &said.item)}),
    );
    match kind {
        "reasoning" => summary(events, index, said),
        "function_call" => {
            // Real traffic leaves out the `name` that the schema asks for.
            whole_field(events, index, said, "response.function_call_arguments", "arguments");
        }
        "custom_tool_call" => whole_field(events, index, said, "response.custom_tool_call_input", "input"),
        "message" => content(events, index, said),
        _ => {}
    }
    events.push("response.output_item.done", json!({"output_index": index, "item": said.item}));
}

/// The item as it is announced: what is going to be streamed is empty still.
fn opening(kind: &str, item: &Map<String, Value>) -> Map<String, Value> {
    let mut opening = item.clone();
    if opening.contains_key("status") {
        opening.insert("status".into(), json!("in_progress"));
    }
    match kind {
        "reasoning" => {
            opening.insert("summary".into(), json!([]));
            // What is announced may be cut short; only the finished item counts.
            if let Some(encrypted) = item.get("encrypted_content").and_then(Value::as_str) {
                let half: String = encrypted.chars().take(encrypted.chars().count() / 2).collect();
                opening.insert("encrypted_content".into(), json!(half));
            }
        }
        "function_call" => {
            opening.insert("arguments".into(), json!(""));
        }
        "custom_tool_call" => {
            opening.insert("input".into(), json!(""));
        }
        "message" => {
            opening.insert("content".into(), json!([]));
        }
        _ => {}
    }
    opening
}

/// A field that grows by deltas and is then said whole: arguments, input.
fn whole_field(events: &mut Events, index: usize, said: &Said, event: &str, field: &str) {
    let place = json!({"output_index": index, "item_id": said.item["id"]});
    for piece in &said.pieces {
        events.push_delta(&format!("{event}.delta"), place.clone(), piece);
    }
    let mut done = place;
    done[field] = json!(said.pieces.concat());
    events.push(&format!("{event}.done"), done);
}

/// The first summary in pieces, and those of a literal item that come after it whole.
fn summary(events: &mut Events, index: usize, said: &Said) {
    let parts = said.item.get("summary").and_then(Value::as_array).cloned().unwrap_or_default();
    for (number, part) in parts.iter().enumerate() {
        let place = json!({"item_id": said.item["id"], "output_index": index, "summary_index": number});
        let empty = json!({"type": "summary_text", "text": ""});
        events.push("response.reasoning_summary_part.added", with(&place, "part", empty));
        let text = part.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
        let pieces = if number == 0 { said.pieces.clone() } else { vec![text.clone()] };
        for piece in &pieces {
            events.push_delta("response.reasoning_summary_text.delta", place.clone(), piece);
        }
        events.push("response.reasoning_summary_text.done", with(&place, "text", json!(text)));
        events.push("response.reasoning_summary_part.done", with(&place, "part", part.clone()));
    }
}

/// The parts of a message: the first in pieces, those of a literal item that come after it whole.
fn content(events: &mut Events, index: usize, said: &Said) {
    let parts = said.item.get("content").and_then(Value::as_array).cloned().unwrap_or_default();
    for (number, part) in parts.iter().enumerate() {
        let place = json!({"item_id": said.item["id"], "output_index": index, "content_index": number});
        let refusal = part.get("refusal").is_some();
        let (field, event) =
            if refusal { ("refusal", "response.refusal") } else { ("text", "response.output_text") };
        let mut opening = part.clone();
        opening[field] = json!("");
        if !refusal {
            opening["annotations"] = json!([]);
        }
        events.push("response.content_part.added", with(&place, "part", opening));
        let text = part.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let pieces = if number == 0 { said.pieces.clone() } else { vec![text.clone()] };
        for piece in &pieces {
            events.push_delta(&format!("{event}.delta"), place.clone(), piece);
        }
        let annotations = part.get("annotations").and_then(Value::as_array).cloned().unwrap_or_default();
        for (number, annotation) in annotations.into_iter().enumerate() {
            let place = with(&place, "annotation_index", json!(number));
            events.push("response.output_text.annotation.added", with(&place, "annotation", annotation));
        }
        let mut done = with(&place, field, json!(text));
        if !refusal {
            done["logprobs"] = json!([]);
        }
        events.push(&format!("{event}.done"), done);
        events.push("response.content_part.done", with(&place, "part", part.clone()));
    }
}

fn with(place: &Value, field: &str, value: Value) -> Value {
    let mut fields = place.clone();
    fields[field] = value;
    fields
}
