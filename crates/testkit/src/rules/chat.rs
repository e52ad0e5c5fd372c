//! The messages of a Chat Completions request: each call is answered right after it, and by its own id.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{Known, Outcome, refuse, text};

pub(super) fn check(request: &Map<String, Value>, known: &Known) -> Outcome {
    let streams = request.get("stream").and_then(Value::as_bool).unwrap_or(false);
    if !streams && request.get("stream_options").is_some_and(|options| !options.is_null()) {
        let message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
        return refuse("stream_options", message);
    }
    let messages = request.get("messages").and_then(Value::as_array).into_iter().flatten();
    let mut open: HashSet<String> = HashSet::new();
    let mut seen: HashSet<String> = HashSet::new();
    for (index, message) in messages.enumerate() {
        let place = format!("messages[{index}]");
        if text(message, "role") == "tool" {
            let id = text(message, "tool_call_id");
            if !open.remove(id) {
                let message =
                    format!("{place} answers {id:?}, which is no open call of the message before it");
                return refuse(&place, message);
            }
            continue;
        }
        check_all_answered(&open, &place)?;
        if text(message, "role") == "assistant" {
            open = calls(message, &place, known)?;
            if let Some(id) = open.iter().find(|id| seen.contains(*id)) {
                return refuse(&place, format!("two calls have the id {id:?}"));
            }
            seen.extend(open.iter().cloned());
        }
    }
    check_all_answered(&open, "messages")
}

fn check_all_answered(open: &HashSet<String>, place: &str) -> Outcome {
    if open.is_empty() {
        return Ok(());
    }
    let mut ids: Vec<&str> = open.iter().map(String::as_str).collect();
    ids.sort_unstable();
    let message = format!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
         'tool_call_id'. These have no response: {}",
        ids.join(", ")
    );
    refuse(place, message)
}

/// The ids of the calls in this message.
fn calls(message: &Value, place: &str, known: &Known) -> Result<HashSet<String>, super::Refusal> {
    let calls = message.get("tool_calls").and_then(Value::as_array);
    let has_content = message.get("content").is_some_and(|content| !content.is_null());
    let refuses = message.get("refusal").is_some_and(|refusal| !refusal.is_null());
    if calls.is_none_or(Vec::is_empty) && !has_content && !refuses {
        refuse(place, "an assistant message with neither content nor calls")?;
    }
    let mut ids = HashSet::new();
    for call in calls.into_iter().flatten() {
        let id = text(call, "id");
        if !known.knows(id) {
            refuse(place, format!("the call id {id:?} was never given out"))?;
        }
        if !ids.insert(id.to_owned()) {
            refuse(place, format!("two calls have the id {id:?}"))?;
        }
    }
    Ok(ids)
}
