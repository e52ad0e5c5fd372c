//! Tools by which code would run at the upstream, on the operator's account, instead of in a sandbox of this
//! server: the code tool in places where the gate does not take it over, and the shell of a hosted container.

use serde_json::{Map, Value};

use super::error::{ApiError, ApiResult};

const CODE: &str = "code_interpreter";

/// Of a create request, or one like it.
pub(super) fn refuse_hosted(fields: &Map<String, Value>) -> ApiResult<()> {
    for (index, tool) in list(fields.get("tools")).iter().enumerate() {
        let at = format!("tools[{index}]");
        refuse_shell(tool, &at)?;
        refuse_below(tool, &at)?;
    }
    refuse_in_items(list(fields.get("input")), "input")
}

/// Of items, which may bring tools along (`additional_tools`, `tool_search_output`). `at`: where they are.
pub(super) fn refuse_in_items(items: &[Value], at: &str) -> ApiResult<()> {
    items.iter().enumerate().try_for_each(|(index, item)| refuse_below(item, &format!("{at}[{index}]")))
}

fn refuse_below(outer: &Value, at: &str) -> ApiResult<()> {
    for (index, tool) in list(outer.get("tools")).iter().enumerate() {
        let at = format!("{at}.tools[{index}]");
        if kind(tool) == CODE {
            let message = format!(
                "A '{CODE}' tool can be given in the request's own 'tools' only: given in '{at}', its code \
                 would not run in a sandbox of this server."
            );
            return Err(refused(message, at));
        }
        refuse_shell(tool, &at)?;
        refuse_below(tool, &at)?;
    }
    Ok(())
}

/// One whose environment is the client's own is no concern of ours; that is also what none means.
fn refuse_shell(tool: &Value, at: &str) -> ApiResult<()> {
    let Some(environment) = tool.get("environment").filter(|environment| !environment.is_null()) else {
        return Ok(());
    };
    if kind(tool) != "shell" || kind(environment) == "local" {
        return Ok(());
    }
    let message = "The 'shell' tool in a container is not run by this server, and the upstream would run it in \
                   a container of its own. Use the tool 'code_interpreter', which can run commands too, or an \
                   environment of type 'local'.";
    Err(refused(message, format!("{at}.environment")))
}

fn refused(message: impl Into<String>, at: String) -> ApiError {
    ApiError::bad_request(message).about(at).coded("unsupported_value")
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn kind(value: &Value) -> &str {
    value.get("type").and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
#[path = "hosted_tools_tests.rs"]
mod tests;
