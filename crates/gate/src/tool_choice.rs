//! `tool_choice` on its way to the upstream: ours becomes the function that stands in for it, and what
//! forces a call is relaxed once there was one. Both forms of request, whose only difference is how
//! deep a name lies.

use serde_json::{Map, Value, json};

/// How a request writes its tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The Responses API: `{"type": "function", "name": …}`.
    Flat,
    /// Chat Completions: `{"type": "function", "function": {"name": …}}`.
    Nested,
}

impl Form {
    fn named(self, name: &str) -> Value {
        match self {
            Self::Flat => json!({"type": "function", "name": name}),
            Self::Nested => json!({"type": "function", "function": {"name": name}}),
        }
    }
}

/// The name of a tool, or of the one a choice asks for, in either form.
pub(crate) fn name_of(tool: &Value) -> Option<&str> {
    let inner = || tool.get("function").or_else(|| tool.get("custom")).and_then(|inner| inner.get("name"));
    tool.get("name").or_else(inner).and_then(Value::as_str)
}

/// The tool's own type, by which choices name it.
pub(crate) const TYPE: &str = "code_interpreter";

/// `is_clients`: whether a tool of the client's own has the name of ours.
pub(crate) fn rewritten(choice: &Value, form: Form, name: &str, is_clients: bool) -> Value {
    // LiteLLM's clients name it as if it were a function, or as a `hosted_tool`.
    let ours = |choice: &Value| match choice.get("type").and_then(Value::as_str) {
        Some(TYPE) => true,
        Some("hosted_tool") => name_of(choice) == Some(TYPE),
        Some("function") => !is_clients && name_of(choice) == Some(TYPE),
        _ => false,
    };
    if ours(choice) {
        return form.named(name);
    }
    let mut choice = choice.clone();
    if let Some(Value::Array(tools)) = allowed(&mut choice).and_then(|list| list.get_mut("tools")) {
        for tool in tools.iter_mut().filter(|tool| ours(tool)) {
            *tool = form.named(name);
        }
    }
    choice
}

/// The choice after a first call: it asked for at least one, and the model must be free to answer.
pub(crate) fn relaxed(choice: &Value) -> Value {
    let mut choice = choice.clone();
    if let Some(list) = allowed(&mut choice) {
        list.insert("mode".to_owned(), json!("auto"));
        return choice;
    }
    match choice {
        Value::String(word) if word == "required" => json!("auto"),
        // One tool by name.
        Value::Object(_) => json!("auto"),
        other => other,
    }
}

/// A list of allowed tools without ours.
pub(crate) fn without(mut choice: Value, name: &str) -> Value {
    if let Some(Value::Array(tools)) = allowed(&mut choice).and_then(|list| list.get_mut("tools")) {
        tools.retain(|tool| name_of(tool) != Some(name));
        if tools.is_empty() {
            return json!("none");
        }
    }
    choice
}

/// The object that holds a list of allowed tools, if the choice is one.
fn allowed(choice: &mut Value) -> Option<&mut Map<String, Value>> {
    let choice = choice.as_object_mut()?;
    if choice.get("type").and_then(Value::as_str) != Some("allowed_tools") {
        return None;
    }
    if choice.get("allowed_tools").is_some_and(Value::is_object) {
        return choice.get_mut("allowed_tools").and_then(Value::as_object_mut);
    }
    Some(choice)
}
