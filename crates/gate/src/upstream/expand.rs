//! A whole response, told as the stream of events it would have been.

use serde_json::{Value, json};

use super::UpstreamError;
use super::compose::{Composer, Object, Place};
use crate::ids::{fresh_id, prefix_of};

/// The events of a finished response, in the order and shape of a real stream; each text comes as one
/// delta. The response at the end is the given one.
pub fn expand(mut response: Object) -> Result<Vec<Value>, UpstreamError> {
    let broken = |what: &str| Err(UpstreamError::Broken(what.to_owned()));
    let last = match response.get("status").and_then(Value::as_str) {
        Some("completed") | None => "response.completed",
        Some("incomplete") => "response.incomplete",
        Some("failed") => "response.failed",
        Some(_) => return broken("it is a response that has not ended"),
    };
    let Some(Value::Array(output)) = response.get_mut("output") else {
        return broken("it is JSON, but not a response");
    };
    for item in output.iter_mut() {
        let Some(item) = item.as_object_mut() else {
            return broken("an item of its output is not an object");
        };
        name_item(item);
    }
    let output = output.clone();
    let mut composer = Composer::new(as_it_began(&response));
    for item in &output {
        expand_item(&mut composer, item);
    }
    composer.emit(last, [("response", Value::Object(response))]);
    Ok(composer.take())
}

fn as_it_began(response: &Object) -> Object {
    let mut response = response.clone();
    response.insert("status".to_owned(), "in_progress".into());
    response.insert("output".to_owned(), json!([]));
    for name in ["completed_at", "error", "incomplete_details", "usage"] {
        response.insert(name.to_owned(), Value::Null);
    }
    response
}

/// Events about an item name it by its id, so one that came without gets one.
fn name_item(item: &mut Object) {
    let named = item.get("id").and_then(Value::as_str).is_some_and(|id| !id.is_empty());
    if !named {
        let kind = item.get("type").and_then(Value::as_str).unwrap_or_default();
        let id = fresh_id(prefix_of(kind));
        item.insert("id".to_owned(), id.into());
    }
}

fn expand_item(composer: &mut Composer, item: &Value) {
    let begun = |changes: &[(&str, Value)]| {
        let mut begun = item.clone();
        for (name, value) in changes {
            if *name != "status" || item.get("status").is_some() {
                begun[*name] = value.clone();
            }
        }
        begun
    };
    let running = ("status", Value::from("in_progress"));
    let place = match item["type"].as_str() {
        Some("message") => {
            let place = composer.open(begun(&[running, ("content", json!([]))]));
            for (index, part) in list(item, "content").iter().enumerate() {
                expand_part(composer, &place, index, part);
            }
            place
        }
        Some("reasoning") => {
            let mut changes = vec![running, ("summary", json!([]))];
            if item.get("content").is_some_and(Value::is_array) {
                changes.push(("content", json!([])));
            }
            let place = composer.open(begun(&changes));
            for (index, part) in list(item, "summary").iter().enumerate() {
                expand_summary(composer, &place, index, part);
            }
            for (index, part) in list(item, "content").iter().enumerate() {
                expand_part(composer, &place, index, part);
            }
            place
        }
        Some("function_call") => {
            let place = composer.open(begun(&[running, ("arguments", "".into())]));
            let arguments = text(item, "arguments");
            delta(composer, "response.function_call_arguments.delta", &place, [], arguments);
            let fields = [("arguments", arguments.into()), ("name", item["name"].clone())];
            composer.about("response.function_call_arguments.done", &place, fields);
            place
        }
        Some("custom_tool_call") => {
            let place = composer.open(begun(&[running, ("input", "".into())]));
            let input = text(item, "input");
            delta(composer, "response.custom_tool_call_input.delta", &place, [], input);
            composer.about("response.custom_tool_call_input.done", &place, [("input", input.into())]);
            place
        }
        _ => composer.open(begun(&[running])),
    };
    composer.close(&place, item.clone());
}

fn expand_part(composer: &mut Composer, place: &Place, index: usize, part: &Value) {
    let at = ("content_index", Value::from(index));
    composer.about("response.content_part.added", place, [at.clone(), ("part", without_content(part))]);
    match part["type"].as_str() {
        Some("output_text") => {
            let (text, logprobs) = (text(part, "text"), ("logprobs", list(part, "logprobs").into()));
            delta(composer, "response.output_text.delta", place, [at.clone(), logprobs.clone()], text);
            for (number, annotation) in list(part, "annotations").iter().enumerate() {
                let fields =
                    [at.clone(), ("annotation_index", number.into()), ("annotation", annotation.clone())];
                composer.about("response.output_text.annotation.added", place, fields);
            }
            let fields = [at.clone(), ("text", text.into()), logprobs];
            composer.about("response.output_text.done", place, fields);
        }
        Some("refusal") => {
            let refusal = text(part, "refusal");
            delta(composer, "response.refusal.delta", place, [at.clone()], refusal);
            composer.about("response.refusal.done", place, [at.clone(), ("refusal", refusal.into())]);
        }
        Some("reasoning_text") => {
            let text = text(part, "text");
            delta(composer, "response.reasoning_text.delta", place, [at.clone()], text);
            composer.about("response.reasoning_text.done", place, [at.clone(), ("text", text.into())]);
        }
        _ => {}
    }
    composer.about("response.content_part.done", place, [at, ("part", part.clone())]);
}

fn expand_summary(composer: &mut Composer, place: &Place, index: usize, part: &Value) {
    let at = ("summary_index", Value::from(index));
    let text = text(part, "text");
    let begun = without_content(part);
    composer.about("response.reasoning_summary_part.added", place, [at.clone(), ("part", begun)]);
    delta(composer, "response.reasoning_summary_text.delta", place, [at.clone()], text);
    composer.about("response.reasoning_summary_text.done", place, [at.clone(), ("text", text.into())]);
    composer.about("response.reasoning_summary_part.done", place, [at, ("part", part.clone())]);
}

/// A part as it is before anything of it came.
fn without_content(part: &Value) -> Value {
    let mut part = part.clone();
    for (name, value) in part.as_object_mut().into_iter().flatten() {
        match name.as_str() {
            "text" | "refusal" => *value = "".into(),
            "annotations" | "logprobs" => *value = json!([]),
            _ => {}
        }
    }
    part
}

/// One delta with all of the text; none where there is no text.
fn delta<const N: usize>(
    composer: &mut Composer,
    kind: &str,
    place: &Place,
    fields: [(&str, Value); N],
    text: &str,
) {
    if !text.is_empty() {
        composer.about(kind, place, fields);
        composer.extend_last([("delta", text.into())]);
    }
}

fn text<'a>(of: &'a Value, name: &str) -> &'a str {
    of[name].as_str().unwrap_or_default()
}

fn list<'a>(of: &'a Value, name: &str) -> &'a [Value] {
    of.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
#[path = "expand_tests.rs"]
mod tests;
