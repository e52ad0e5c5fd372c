//! The input of a Responses request: calls with their outputs, ids that exist, nothing of ours.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::{Known, Outcome, refuse, text};

pub(super) fn check(request: &Map<String, Value>, known: &Known) -> Outcome {
    let earlier = request.get("previous_response_id").and_then(Value::as_str);
    if let Some(id) = earlier.filter(|id| !known.knows(id)) {
        let message = format!("Previous response with id '{id}' not found.");
        return refuse("previous_response_id", message);
    }
    let continues = earlier.is_some() || request.get("conversation").is_some_and(|value| !value.is_null());
    let items: &[Value] = request.get("input").and_then(Value::as_array).map_or(&[], Vec::as_slice);
    let mut input = Input { known, continues, ids: HashSet::new(), calls: HashMap::new() };
    for (index, item) in items.iter().enumerate() {
        input.take(item, &format!("input[{index}]"))?;
    }
    // What was said under `store: false` cannot be looked up later.
    if request.get("store") == Some(&Value::Bool(false)) {
        check_thoughts(items)?;
    }
    match input.calls.iter().find(|(_, call)| !call.answered) {
        Some((id, call)) => refuse(&call.place, format!("No tool output found for call {id}.")),
        None => Ok(()),
    }
}

/// Thoughts come whole, and before what came of them.
fn check_thoughts(items: &[Value]) -> Outcome {
    for (index, item) in items.iter().enumerate().filter(|(_, item)| kind(item) == "reasoning") {
        let (place, id) = (format!("input[{index}]"), text(item, "id"));
        let has_content =
            item.get("content").and_then(Value::as_array).is_some_and(|parts| !parts.is_empty());
        if text(item, "encrypted_content").is_empty() && !has_content {
            let message = format!(
                "Item with id '{id}' not found. Items are not persisted when `store` is set to false."
            );
            return refuse(&place, message);
        }
        let next = items[index..].iter().find(|item| kind(item) != "reasoning");
        let is_models = next.is_some_and(|next| {
            text(next, "role") == "assistant"
                || (next.get("role").is_none() && !kind(next).ends_with("_output"))
        });
        if !is_models {
            let message =
                format!("Item '{id}' of type 'reasoning' was provided without its required following item.");
            return refuse(&place, message);
        }
    }
    Ok(())
}

struct Input<'a> {
    known: &'a Known,
    /// The request goes on from something the upstream keeps, where the call may be.
    continues: bool,
    ids: HashSet<String>,
    calls: HashMap<String, Call>,
}

struct Call {
    kind: &'static str,
    place: String,
    answered: bool,
}

impl Input<'_> {
    fn take(&mut self, item: &Value, place: &str) -> Outcome {
        self.check_id(item, place)?;
        if text(item, "type") == "code_interpreter_call" {
            return refuse(place, "a code_interpreter_call: this upstream has no such tool");
        }
        for name in ["container_id", "sandbox"] {
            if item.get(name).is_some() {
                return refuse(place, format!("Unknown parameter: '{place}.{name}'."));
            }
        }
        match kind(item) {
            "function_call" => self.call(item, place, "function_call_output"),
            "custom_tool_call" => self.call(item, place, "custom_tool_call_output"),
            kind @ ("function_call_output" | "custom_tool_call_output") => self.output(item, place, kind),
            "item_reference" if !self.known.knows(text(item, "id")) => {
                refuse(place, format!("Item with id '{}' not found.", text(item, "id")))
            }
            _ => Ok(()),
        }
    }

    /// An id is used once, and begins as the real service has it begin.
    fn check_id(&mut self, item: &Value, place: &str) -> Outcome {
        let Some(id) = item.get("id").and_then(Value::as_str) else { return Ok(()) };
        let prefix = match text(item, "type") {
            "function_call" => "fc",
            "custom_tool_call" => "ctc",
            "reasoning" => "rs",
            "message" => "msg",
            _ => "",
        };
        if !id.starts_with(prefix) {
            let message =
                format!("Invalid '{place}.id': '{id}'. Expected an ID that begins with '{prefix}'.");
            return refuse(place, message);
        }
        if !self.ids.insert(id.to_owned()) {
            return refuse(place, format!("Duplicate item found with id {id}."));
        }
        Ok(())
    }

    fn call(&mut self, item: &Value, place: &str, kind: &'static str) -> Outcome {
        let id = text(item, "call_id");
        if !self.known.knows(id) {
            return refuse(place, format!("the call id {id:?} was never given out"));
        }
        let call = Call { kind, place: place.to_owned(), answered: false };
        match self.calls.insert(id.to_owned(), call) {
            Some(_) => refuse(place, format!("two calls have the id {id:?}")),
            None => Ok(()),
        }
    }

    fn output(&mut self, item: &Value, place: &str, kind: &str) -> Outcome {
        let id = text(item, "call_id");
        match self.calls.get_mut(id) {
            Some(call) if call.kind != kind => {
                refuse(place, format!("the call {id:?} is answered by an item of type {:?}", call.kind))
            }
            Some(call) if call.answered => refuse(place, format!("the call {id:?} has two outputs")),
            Some(call) => {
                call.answered = true;
                Ok(())
            }
            None if self.continues && self.known.knows(id) => Ok(()),
            None => refuse(place, format!("No tool call found for function call output with call_id {id}.")),
        }
    }
}

/// The type of an item. A reference may come without: it has an id and no role.
fn kind(item: &Value) -> &str {
    let reference = item.get("type").is_none_or(Value::is_null) && item.get("role").is_none();
    if reference { "item_reference" } else { text(item, "type") }
}
