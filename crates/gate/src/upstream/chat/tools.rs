//! Tools and the choice among them, as Chat Completions writes them.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::UpstreamError;
use super::request::{given, refused};
use crate::upstream::compose::Object;

type Tools = (Vec<Value>, Option<Value>);

/// The tools and the choice; `None` where there are no tools, with which no choice may be sent.
pub(super) fn tools(body: &Object) -> Result<Option<Tools>, UpstreamError> {
    let Some(given_tools) = given(body, "tools").and_then(Value::as_array) else { return Ok(None) };
    let mut list = Vec::with_capacity(given_tools.len());
    for (index, tool) in given_tools.iter().enumerate() {
        list.push(function(tool, index)?);
    }
    let choice = match given(body, "tool_choice") {
        None => None,
        Some(choice) => Some(choose(choice, &mut list)?),
    };
    Ok((!list.is_empty()).then_some((list, choice)))
}

fn function(tool: &Value, index: usize) -> Result<Value, UpstreamError> {
    let kind = tool["type"].as_str().unwrap_or_default();
    if kind == "custom" {
        return Ok(custom(tool));
    }
    if kind != "function" {
        let what = format!("A tool of type '{kind}' cannot be passed on; functions and custom tools can.");
        return Err(refused(&what, &format!("tools[{index}].type")));
    }
    let mut function = Object::new();
    for name in ["name", "description", "parameters", "strict"] {
        if let Some(value) = tool.get(name).filter(|value| !value.is_null()) {
            function.insert(name.to_owned(), value.clone());
        }
    }
    Ok(json!({"type": "function", "function": function}))
}

/// The argument that holds the text of a custom tool's call.
pub(super) const INPUT: &str = "input";

/// A tool that takes a text: few servers of this kind know it, and all know a function of one string.
fn custom(tool: &Value) -> Value {
    let mut description = tool["description"].as_str().unwrap_or_default().to_owned();
    let format = &tool["format"];
    if let (Some("grammar"), Some(grammar)) = (format["type"].as_str(), format["definition"].as_str()) {
        let syntax = format["syntax"].as_str().unwrap_or_default();
        if !description.is_empty() {
            description.push_str("\n\n");
        }
        description.push_str(&format!("The input must follow this grammar ({syntax}):\n{grammar}"));
    }
    let parameters = json!({
        "type": "object", "properties": {INPUT: {"type": "string"}},
        "required": [INPUT], "additionalProperties": false,
    });
    let mut function = json!({"name": tool["name"], "parameters": parameters});
    if !description.is_empty() {
        function["description"] = description.into();
    }
    json!({"type": "function", "function": function})
}

/// The names of a request's custom tools.
pub(super) fn custom_names(body: &Object) -> HashSet<String> {
    let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    let custom = tools.filter(|tool| tool["type"] == "custom");
    custom.filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
}

/// A choice of allowed tools is made by leaving out the others: few servers know it, and all do the same
/// with a shorter list.
fn choose(choice: &Value, list: &mut Vec<Value>) -> Result<Value, UpstreamError> {
    match (choice.as_str(), choice["type"].as_str()) {
        (Some("auto" | "none" | "required"), _) => Ok(choice.clone()),
        (_, Some("function" | "custom")) => {
            Ok(json!({"type": "function", "function": {"name": choice["name"]}}))
        }
        (_, Some("allowed_tools")) => {
            let allowed: Vec<&Value> =
                choice["tools"].as_array().into_iter().flatten().map(|tool| &tool["name"]).collect();
            list.retain(|tool| allowed.contains(&&tool["function"]["name"]));
            Ok(choice["mode"].as_str().unwrap_or("auto").into())
        }
        _ => {
            let shown = choice["type"].as_str().or(choice.as_str()).unwrap_or_default();
            Err(refused(&format!("A tool choice of '{shown}' cannot be passed on."), "tool_choice"))
        }
    }
}

#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;
