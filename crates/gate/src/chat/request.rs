//! A Chat Completions request, with what the gate must know of it read out and checked. Fields it does
//! not know go on to the upstream untouched.

use serde_json::{Map, Value, json};

use crate::container_param::{CodeTool, only_known};
use crate::error::{GateError, Result};
use crate::request::{code_tool, count, flag};

#[derive(Clone, Debug)]
pub struct ChatRequest {
    /// The whole body.
    pub(crate) body: Map<String, Value>,
    pub stream: bool,
    pub(crate) include_usage: bool,
    /// The client's limit of tokens and by which of its two names it was given.
    pub(crate) max_tokens: Option<(&'static str, u64)>,
    pub code_tool: Option<CodeTool>,
}

impl ChatRequest {
    pub fn parse(mut body: Map<String, Value>) -> Result<Self> {
        match body.get("messages") {
            None | Some(Value::Null) => return Err(GateError::missing("messages")),
            Some(Value::Array(_)) => {}
            Some(other) => return Err(GateError::wrong_type("messages", "an array", other)),
        }
        complete_tools(&mut body)?;
        let code_tool = code_tool(&mut body)?;
        if code_tool.is_some() && count(&body, "n")?.is_some_and(|n| n != 1) {
            let message = "With a 'code_interpreter' tool there is one answer: several would need several \
                           containers. Leave 'n' out or set it to 1.";
            return Err(GateError::bad_value("n", message));
        }
        let mut max_tokens = None;
        for name in ["max_tokens", "max_completion_tokens"] {
            max_tokens = count(&body, name)?.map(|most| (name, most)).or(max_tokens);
        }
        Ok(Self {
            stream: flag(&body, "stream", false)?,
            include_usage: body
                .get("stream_options")
                .and_then(|options| options.get("include_usage"))
                .and_then(Value::as_bool)
                .unwrap_or(false),
            max_tokens,
            code_tool,
            body,
        })
    }
}

/// Here a tool may leave its container out: who writes by hand means a fresh one.
fn complete_tools(body: &mut Map<String, Value>) -> Result<()> {
    let Some(Value::Array(tools)) = body.get_mut("tools") else { return Ok(()) };
    for (index, tool) in tools.iter_mut().enumerate().filter(|(_, tool)| tool["type"] == "code_interpreter") {
        let Value::Object(tool) = tool else { continue };
        only_known(tool, &format!("tools[{index}]"), &["type", "container"])?;
        if tool.get("container").is_none_or(Value::is_null) {
            tool.insert("container".to_owned(), json!({"type": "auto"}));
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
