//! The `code_interpreter` tool of a request: which container its code runs in, read strictly, because a
//! field that is overlooked here is a promise broken silently.

use serde_json::{Map, Value};

use crate::error::{GateError, Result};
use crate::network_param::{AskedNetwork, read_network_policy};

/// The tool's place in `tools`, and where its code is to run.
#[derive(Clone, Debug, PartialEq)]
pub struct CodeTool {
    pub index: usize,
    pub container: ContainerChoice,
    /// Passed on to the tool that stands in for it.
    pub allowed_callers: Option<Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ContainerChoice {
    Named(String),
    Auto(AutoContainer),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct AutoContainer {
    pub file_ids: Vec<String>,
    pub memory_limit: Option<String>,
    pub network: Option<AskedNetwork>,
}

const MOST_FILES: usize = 50;
/// OpenAI's sizes.
pub const MEMORY_SIZES: [(&str, u64); 4] =
    [("1g", 1 << 30), ("4g", 4 << 30), ("16g", 16 << 30), ("64g", 64 << 30)];

/// Bytes of a `memory_limit`.
#[must_use]
pub fn memory_bytes(name: &str) -> Option<u64> {
    MEMORY_SIZES.into_iter().find(|(size, _)| *size == name).map(|(_, bytes)| bytes)
}

pub(crate) fn read_code_tool(tool: &Value, index: usize) -> Result<CodeTool> {
    let at = format!("tools[{index}]");
    let Value::Object(tool) = tool else { return Err(GateError::wrong_type(at, "an object", tool)) };
    only_known(tool, &at, &["type", "container", "allowed_callers"])?;
    let container = match tool.get("container") {
        None => return Err(GateError::missing(format!("{at}.container"))),
        Some(Value::String(id)) => ContainerChoice::Named(id.clone()),
        Some(Value::Object(auto)) => ContainerChoice::Auto(read_auto(auto, &format!("{at}.container"))?),
        Some(other) => {
            return Err(GateError::wrong_type(format!("{at}.container"), "a string or an object", other));
        }
    };
    let allowed_callers = tool.get("allowed_callers").filter(|value| !value.is_null()).cloned();
    Ok(CodeTool { index, container, allowed_callers })
}

fn read_auto(auto: &Map<String, Value>, at: &str) -> Result<AutoContainer> {
    only_known(auto, at, &["type", "file_ids", "memory_limit", "network_policy"])?;
    match auto.get("type") {
        None => return Err(GateError::missing(format!("{at}.type"))),
        Some(Value::String(kind)) if kind == "auto" => {}
        Some(Value::String(kind)) => {
            let message = format!("Invalid value: '{kind}'. Supported values are: 'auto'.");
            return Err(GateError::bad_value(format!("{at}.type"), message));
        }
        Some(other) => return Err(GateError::wrong_type(format!("{at}.type"), "a string", other)),
    }
    Ok(AutoContainer {
        file_ids: read_file_ids(auto.get("file_ids"), &format!("{at}.file_ids"))?,
        memory_limit: read_memory_limit(auto.get("memory_limit"), &format!("{at}.memory_limit"))?,
        network: read_network_policy(auto.get("network_policy"), &format!("{at}.network_policy"))?,
    })
}

pub fn read_file_ids(value: Option<&Value>, at: &str) -> Result<Vec<String>> {
    let ids = match value {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(ids)) => ids,
        Some(other) => return Err(GateError::wrong_type(at, "an array", other)),
    };
    if ids.len() > MOST_FILES {
        let message = format!(
            "Invalid '{at}': array too long. Expected an array with maximum length {MOST_FILES}, but got an \
             array with length {} instead.",
            ids.len()
        );
        return Err(GateError::Invalid {
            message,
            param: Some(at.to_owned()),
            code: Some("array_above_max_length"),
        });
    }
    let text = |(index, id): (usize, &Value)| {
        id.as_str()
            .map(str::to_owned)
            .ok_or_else(|| GateError::wrong_type(format!("{at}[{index}]"), "a string", id))
    };
    ids.iter().enumerate().map(text).collect()
}

pub fn read_memory_limit(value: Option<&Value>, at: &str) -> Result<Option<String>> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(name)) if memory_bytes(name).is_some() => Ok(Some(name.clone())),
        Some(Value::String(name)) => Err(GateError::bad_value(
            at,
            format!("Invalid value: '{name}'. Supported values are: '1g', '4g', '16g', and '64g'."),
        )),
        Some(other) => Err(GateError::wrong_type(at, "a string", other)),
    }
}

/// A field that nobody knows is more likely a misspelt wish than noise.
pub fn only_known(object: &Map<String, Value>, at: &str, known: &[&str]) -> Result<()> {
    match object.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) if at.is_empty() => Err(GateError::unknown_parameter(key.clone())),
        Some(key) => Err(GateError::unknown_parameter(format!("{at}.{key}"))),
        None => Ok(()),
    }
}
