//! Tools and the choice among them, in both forms of request.

use serde_json::{Map, Value};

use super::{Outcome, refuse, text};

/// A tool as its type and, for those that have one, its name.
type Reading = fn(&Value) -> (String, Option<String>);

/// `{"type": "function", "name": …}`
pub(super) fn in_responses(tool: &Value) -> (String, Option<String>) {
    let name = tool.get("name").and_then(Value::as_str).map(str::to_owned);
    (text(tool, "type").to_owned(), name)
}

/// `{"type": "function", "function": {"name": …}}`
pub(super) fn in_chat(tool: &Value) -> (String, Option<String>) {
    let kind = text(tool, "type").to_owned();
    let name = tool.get(&kind).and_then(|inner| inner.get("name")?.as_str()).map(str::to_owned);
    (kind, name)
}

pub(super) fn check(request: &Map<String, Value>, read: Reading) -> Outcome {
    let tools: Vec<&Value> = request.get("tools").and_then(Value::as_array).into_iter().flatten().collect();
    let mut known: Vec<(String, Option<String>)> = Vec::new();
    for (index, tool) in tools.iter().enumerate() {
        let (kind, name) = read(tool);
        let place = format!("tools[{index}]");
        if kind == "code_interpreter" {
            return refuse(&place, "a code_interpreter tool: this upstream has none, it takes a function");
        }
        if kind == "function" && tool.get("container").is_some() {
            return refuse(&place, format!("Unknown parameter: '{place}.container'."));
        }
        let twice = name.is_some() && known.iter().any(|(_, other)| *other == name);
        if twice {
            return refuse(&place, format!("two tools have the name {:?}", name.unwrap_or_default()));
        }
        known.push((kind, name));
    }
    match request.get("tool_choice") {
        Some(choice) => check_choice(choice, &known, read),
        None => Ok(()),
    }
}

fn check_choice(choice: &Value, known: &[(String, Option<String>)], read: Reading) -> Outcome {
    if choice == "required" && known.is_empty() {
        return refuse("tool_choice", "tool_choice is \"required\", and there are no tools");
    }
    if !choice.is_object() {
        return Ok(());
    }
    if text(choice, "type") != "allowed_tools" {
        return check_named(&read(choice), known);
    }
    // Chat Completions has the list one level deeper.
    let inner = choice.get("allowed_tools").unwrap_or(choice);
    let allowed = inner.get("tools").and_then(Value::as_array).into_iter().flatten();
    allowed.map(read).try_for_each(|tool| check_named(&tool, known))
}

fn check_named(chosen: &(String, Option<String>), known: &[(String, Option<String>)]) -> Outcome {
    let (kind, name) = chosen;
    // Servers of MCP tools are told apart by a label, not by a name.
    let is_there = match name {
        Some(_) if kind == "function" || kind == "custom" => known.contains(chosen),
        _ => known.iter().any(|(other, _)| other == kind),
    };
    if is_there {
        return Ok(());
    }
    let what = name.as_ref().map_or_else(|| format!("of type {kind:?}"), |name| format!("named {name:?}"));
    refuse("tool_choice", format!("tool_choice asks for a tool {what}, which is not among the tools"))
}
