//! Secrets of domains in tools that this server does not run itself, such as `shell`: they go on to the upstream,
//! but what is said back, stored or shown never has them.

use serde_json::Value;

/// Takes them out of a tool, or of a list of tools. A tool may hold others, so every depth is looked at.
pub(crate) fn forget_secrets(tools: &mut Value) {
    match tools {
        Value::Array(items) => items.iter_mut().for_each(forget_secrets),
        Value::Object(fields) => {
            if let Some(Value::Object(policy)) = fields.get_mut("network_policy") {
                policy.shift_remove("domain_secrets");
            }
            fields.values_mut().for_each(forget_secrets);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The same for an item of the input: some bring tools along.
pub(crate) fn forget_secrets_of_item(item: &mut Value) {
    if let Some(tools) = item.get_mut("tools") {
        forget_secrets(tools);
    }
}

#[cfg(test)]
#[path = "tool_secrets_tests.rs"]
mod tests;
