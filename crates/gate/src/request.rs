//! A create request as the client sent it, with what the gate must know of it read out and checked.
//! Fields it does not know go on to the upstream untouched.

use serde_json::{Map, Value};

use crate::container_param::{AutoContainer, CodeTool, ContainerChoice, read_code_tool};
use crate::error::{GateError, Result};

#[derive(Clone, Debug)]
pub struct CreateRequest {
    /// The whole body.
    pub body: Map<String, Value>,
    pub stream: bool,
    pub background: bool,
    pub store: bool,
    pub include: Vec<String>,
    pub obfuscation: bool,
    pub previous: Option<String>,
    pub conversation: Option<String>,
    pub max_tool_calls: Option<u64>,
    pub max_output_tokens: Option<u64>,
    pub code_tool: Option<CodeTool>,
}

/// In `include`: show what code printed and drew.
pub const INCLUDE_OUTPUTS: &str = "code_interpreter_call.outputs";

impl CreateRequest {
    pub fn parse(mut body: Map<String, Value>) -> Result<Self> {
        // A stored prompt may name the model.
        if !body.contains_key("model") && !body.contains_key("prompt") {
            return Err(GateError::missing("model"));
        }
        let stream = flag(&body, "stream", false)?;
        let background = flag(&body, "background", false)?;
        let store = flag(&body, "store", true)?;
        if background && !store {
            return Err(GateError::bad_value("background", "Background mode requires 'store' to be true."));
        }
        let previous = text(&body, "previous_response_id")?;
        let conversation = conversation(&body)?;
        if previous.is_some() && conversation.is_some() {
            return Err(GateError::Invalid {
                message: "Mutually exclusive parameters: 'previous_response_id' and 'conversation'. \
                          Provide only one of them."
                    .to_owned(),
                param: Some("previous_response_id".to_owned()),
                code: Some("mutually_exclusive_parameters"),
            });
        }
        Ok(Self {
            stream,
            background,
            store,
            include: include(&body)?,
            obfuscation: body
                .get("stream_options")
                .and_then(|options| options.get("include_obfuscation"))
                .and_then(Value::as_bool)
                .unwrap_or(true),
            previous,
            conversation,
            max_tool_calls: count(&body, "max_tool_calls")?,
            max_output_tokens: count(&body, "max_output_tokens")?,
            code_tool: code_tool(&mut body)?,
            body,
        })
    }

    #[must_use]
    pub fn wants_outputs(&self) -> bool {
        self.include.iter().any(|name| name == INCLUDE_OUTPUTS)
    }

    /// The input as a list of items.
    pub fn input_items(&self) -> Result<Vec<Value>> {
        match self.body.get("input") {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::String(text)) => {
                Ok(vec![serde_json::json!({"type": "message", "role": "user", "content": text})])
            }
            Some(Value::Array(items)) => Ok(items.clone()),
            Some(other) => Err(GateError::wrong_type("input", "a string or an array", other)),
        }
    }
}

pub(crate) fn flag(body: &Map<String, Value>, name: &str, default: bool) -> Result<bool> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(default),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(other) => Err(GateError::wrong_type(name, "a boolean", other)),
    }
}

fn text(body: &Map<String, Value>, name: &str) -> Result<Option<String>> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(GateError::wrong_type(name, "a string", other)),
    }
}

pub(crate) fn count(body: &Map<String, Value>, name: &str) -> Result<Option<u64>> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_u64() {
            Some(count) => Ok(Some(count)),
            None if value.is_i64() => {
                let message = format!("Invalid '{name}': expected a value >= 0, but got {value} instead.");
                Err(GateError::bad_value(name, message))
            }
            None => Err(GateError::wrong_type(name, "an integer", value)),
        },
    }
}

fn conversation(body: &Map<String, Value>) -> Result<Option<String>> {
    match body.get("conversation") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) => Ok(Some(id.clone())),
        Some(Value::Object(object)) => match object.get("id") {
            Some(Value::String(id)) => Ok(Some(id.clone())),
            Some(other) => Err(GateError::wrong_type("conversation.id", "a string", other)),
            None => Err(GateError::missing("conversation.id")),
        },
        Some(other) => Err(GateError::wrong_type("conversation", "a string or an object", other)),
    }
}

fn include(body: &Map<String, Value>) -> Result<Vec<String>> {
    match body.get("include") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(names)) => names
            .iter()
            .enumerate()
            .map(|(index, name)| {
                let wrong = || GateError::wrong_type(format!("include[{index}]"), "a string", name);
                name.as_str().map(str::to_owned).ok_or_else(wrong)
            })
            .collect(),
        Some(other) => Err(GateError::wrong_type("include", "an array", other)),
    }
}

/// Takes secrets out of the body, which is said back and stored.
pub(crate) fn code_tool(body: &mut Map<String, Value>) -> Result<Option<CodeTool>> {
    let tools = match body.get_mut("tools") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Array(tools)) => tools,
        Some(other) => return Err(GateError::wrong_type("tools", "an array", other)),
    };
    let mut found = None;
    for (index, tool) in tools.iter_mut().enumerate() {
        if tool.get("type").and_then(Value::as_str) != Some("code_interpreter") {
            continue;
        }
        if found.is_some() {
            let message = "Only one 'code_interpreter' tool can be given.";
            return Err(GateError::bad_value(format!("tools[{index}]"), message));
        }
        let read = read_code_tool(tool, index)?;
        if let ContainerChoice::Auto(AutoContainer { network: Some(network), .. }) = &read.container {
            tool["container"]["network_policy"] = network.said.clone();
        }
        found = Some(read);
    }
    Ok(found)
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
